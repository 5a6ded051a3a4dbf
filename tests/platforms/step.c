/* Loads the library of an FMU, steps it and prints the bits of its outputs, one line a step.
 *
 *   step LIBRARY GUID RESOURCES STEP_SIZE STEPS [--ball R V F] REFERENCE...
 *
 * REFERENCE are value references of real outputs. With --ball the program is the master of a ball of 1 kg: position,
 * velocity and contact force are three references each, from R, V and F on.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
static void *load(const char *path) { return (void *)LoadLibraryA(path); }
static const char *load_error(void)
{
    static char text[32];
    snprintf(text, sizeof text, "error %lu", GetLastError());
    return text;
}
#else
#include <dlfcn.h>
static void *load(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static const char *load_error(void) { return dlerror(); }
#endif

typedef struct {
    void (*log)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *, int);
    void *environment;
} Callbacks;

static void print_message(void *environment, const char *instance, int status, const char *category,
                          const char *message, ...)
{
    va_list arguments;
    (void)environment;
    fprintf(stderr, "%s [%s, status %d]: ", instance, category, status);
    va_start(arguments, message);
    vfprintf(stderr, message, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static void find(void *library, const char *name, void *function)
{
#ifdef _WIN32
    FARPROC symbol = GetProcAddress((HMODULE)library, name);
#else
    void *symbol = dlsym(library, name);
#endif
    if (!symbol) {
        fprintf(stderr, "no function %s\n", name);
        exit(1);
    }
    memcpy(function, &symbol, sizeof symbol);
}

static void require(int status, const char *call)
{
    if (status != 0) {
        fprintf(stderr, "%s: status %d\n", call, status);
        exit(1);
    }
}

static double gravity(int axis) { return axis == 2 ? -10.0 : 0.0; }

int main(int count, char **arguments)
{
    void *(*instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int);
    int (*setup)(void *, int, double, double, int, double);
    int (*enter)(void *), (*leave)(void *), (*terminate)(void *);
    int (*do_step)(void *, double, double, int);
    int (*get)(void *, const unsigned *, size_t, double *);
    int (*set)(void *, const unsigned *, size_t, const double *);
    void (*release)(void *);
    const Callbacks callbacks = {print_message, calloc, free, NULL, NULL};
    unsigned position[3], velocity[3], force[3];
    double r[3], v[3], f[3];
    size_t given = 0;
    int ball = 0, next = 6;

    if (count < 7) {
        fprintf(stderr, "usage: step LIBRARY GUID RESOURCES STEP_SIZE STEPS [--ball R V F] REFERENCE...\n");
        return 2;
    }
    if (strcmp(arguments[next], "--ball") == 0 && count > next + 3) {
        for (int axis = 0; axis < 3; axis++) {
            position[axis] = (unsigned)(atoi(arguments[next + 1]) + axis);
            velocity[axis] = (unsigned)(atoi(arguments[next + 2]) + axis);
            force[axis] = (unsigned)(atoi(arguments[next + 3]) + axis);
        }
        ball = 1;
        next += 4;
    }
    unsigned *outputs = calloc((size_t)count, sizeof *outputs);
    double *values = calloc((size_t)count, sizeof *values);
    if (!outputs || !values)
        return 1;
    while (next < count)
        outputs[given++] = (unsigned)atoi(arguments[next++]);

    void *library = load(arguments[1]);
    if (!library) {
        fprintf(stderr, "%s: %s\n", arguments[1], load_error());
        return 1;
    }
    find(library, "fmi2Instantiate", &instantiate);
    find(library, "fmi2SetupExperiment", &setup);
    find(library, "fmi2EnterInitializationMode", &enter);
    find(library, "fmi2ExitInitializationMode", &leave);
    find(library, "fmi2DoStep", &do_step);
    find(library, "fmi2GetReal", &get);
    find(library, "fmi2SetReal", &set);
    find(library, "fmi2Terminate", &terminate);
    find(library, "fmi2FreeInstance", &release);

    const int co_simulation = 1;
    void *fmu = instantiate("fmu", co_simulation, arguments[2], arguments[3], &callbacks, 0, 0);
    if (!fmu)
        return 1;
    const double size = strtod(arguments[4], NULL);
    const int steps = atoi(arguments[5]);
    require(setup(fmu, 0, 0.0, 0.0, 0, 0.0), "fmi2SetupExperiment");
    require(enter(fmu), "fmi2EnterInitializationMode");
    require(leave(fmu), "fmi2ExitInitializationMode");
    if (ball) {
        require(get(fmu, position, 3, r), "fmi2GetReal");
        require(get(fmu, velocity, 3, v), "fmi2GetReal");
    }
    for (int step = 0; step < steps; step++) {
        if (ball) {
            require(set(fmu, position, 3, r), "fmi2SetReal");
            require(set(fmu, velocity, 3, v), "fmi2SetReal");
        }
        require(do_step(fmu, step * size, size, 1), "fmi2DoStep");
        if (ball) {
            require(get(fmu, force, 3, f), "fmi2GetReal");
            for (int axis = 0; axis < 3; axis++) {
                const double gain = (gravity(axis) + f[axis]) * size;
                r[axis] += (v[axis] + 0.5 * gain) * size;
                v[axis] += gain;
            }
        }
        require(get(fmu, outputs, given, values), "fmi2GetReal");
        for (size_t output = 0; output < given; output++) {
            uint64_t bits;
            memcpy(&bits, &values[output], sizeof bits);
            printf("%s%016" PRIx64, output ? " " : "", bits);
        }
        putchar('\n');
    }
    require(terminate(fmu), "fmi2Terminate");
    release(fmu);
    free(values);
    free(outputs);
    return 0;
}
