/* The contact engine for Modelica: loads the library of this platform and calls its FMI 2.0 co-simulation functions.

   ContactFmu_open and ContactFmu_close are constructor and destructor of the external object Internal.Engine,
   ContactFmu_step is the function Internal.step, ContactFmu_quaternion is Internal.quaternion.
   There is no global data: objects are independent of one another and may live in different threads.
   ModelicaFormatError does not return, so nothing is held on the stack, and no call of the library is under way, when
   it is called. */

#ifndef CONTACT_FMU_H
#define CONTACT_FMU_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ModelicaUtilities.h"

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#endif

/* Unused ones are no cause for a warning. */
#if defined(_MSC_VER) && !defined(__cplusplus)
#define CONTACT_FMU_FUNCTION static __inline
#else
#define CONTACT_FMU_FUNCTION static inline
#endif

/* Folder of the library, named as in FMI 2.0. */
#if defined(_WIN64)
#define CONTACT_FMU_PLATFORM "win64"
#elif defined(_WIN32)
#define CONTACT_FMU_PLATFORM "win32"
#elif defined(__APPLE__)
#define CONTACT_FMU_PLATFORM "darwin64"
#elif defined(__aarch64__)
#define CONTACT_FMU_PLATFORM "aarch64-linux"
#elif defined(__x86_64__)
#define CONTACT_FMU_PLATFORM "linux64"
#else
#define CONTACT_FMU_PLATFORM "linux32"
#endif

#if defined(_WIN32)
#define CONTACT_FMU_SUFFIX ".dll"
#elif defined(__APPLE__)
#define CONTACT_FMU_SUFFIX ".dylib"
#else
#define CONTACT_FMU_SUFFIX ".so"
#endif

#define CONTACT_FMU_LIBRARY "/" CONTACT_FMU_PLATFORM "/contact_fmu" CONTACT_FMU_SUFFIX

/* The types of FMI 2.0, under names that do not clash with those of a tool. */
typedef enum {
    ContactFmu_OK,
    ContactFmu_Warning,
    ContactFmu_Discard,
    ContactFmu_Error,
    ContactFmu_Fatal,
    ContactFmu_Pending
} ContactFmu_Status;

typedef struct {
    void (*logger)(void *, const char *, ContactFmu_Status, const char *, const char *, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, ContactFmu_Status);
    void *componentEnvironment;
} ContactFmu_Callbacks;

/* Value references of variables. */
typedef struct {
    unsigned int *values;
    size_t count;
} ContactFmu_References;

enum { CONTACT_FMU_TEXT = 1024 };

typedef struct {
    /* Last message of the library. */
    char message[CONTACT_FMU_TEXT];
    char name[CONTACT_FMU_TEXT];
    ContactFmu_Callbacks callbacks;
    ContactFmu_References inputs, states, results, counts;
    void *library;
    void *component;
    /* State before the last step, and its time. */
    void *before;
    double time;
    int started;
    void *(*instantiate)(const char *, int, const char *, const char *, const ContactFmu_Callbacks *, int, int);
    void (*freeInstance)(void *);
    ContactFmu_Status (*setupExperiment)(void *, int, double, double, int, double);
    ContactFmu_Status (*enterInitializationMode)(void *);
    ContactFmu_Status (*exitInitializationMode)(void *);
    ContactFmu_Status (*terminate)(void *);
    ContactFmu_Status (*setReal)(void *, const unsigned int *, size_t, const double *);
    ContactFmu_Status (*getReal)(void *, const unsigned int *, size_t, double *);
    ContactFmu_Status (*getInteger)(void *, const unsigned int *, size_t, int *);
    ContactFmu_Status (*getState)(void *, void **);
    ContactFmu_Status (*setState)(void *, void *);
    ContactFmu_Status (*freeState)(void *, void **);
    ContactFmu_Status (*doStep)(void *, double, double, int);
} ContactFmu_Engine;

/* What the library has to say: warnings are told at once, errors when its function has returned. */
CONTACT_FMU_FUNCTION void ContactFmu_log(void *environment, const char *instance, ContactFmu_Status status,
                                         const char *category, const char *message, ...) {
    ContactFmu_Engine *engine = (ContactFmu_Engine *)environment;
    va_list arguments;
    (void)instance;
    (void)category;
    va_start(arguments, message);
    vsnprintf(engine->message, sizeof engine->message, message, arguments);
    va_end(arguments);
    if (status == ContactFmu_Warning) ModelicaFormatMessage("%s: %s\n", engine->name, engine->message);
}

CONTACT_FMU_FUNCTION void *ContactFmu_load(const char *path) {
#ifdef _WIN32
    wchar_t wide[2 * CONTACT_FMU_TEXT];
    if (!MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 2 * CONTACT_FMU_TEXT)) return NULL;
    return (void *)LoadLibraryExW(wide, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
#else
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
#endif
}

CONTACT_FMU_FUNCTION void ContactFmu_unload(void *library) {
#ifdef _WIN32
    FreeLibrary((HMODULE)library);
#else
    dlclose(library);
#endif
}

/* Writes why the last load failed. */
CONTACT_FMU_FUNCTION void ContactFmu_loadError(char *text, size_t size) {
#ifdef _WIN32
    snprintf(text, size, "error %lu of Windows", (unsigned long)GetLastError());
#else
    const char *error = dlerror();
    snprintf(text, size, "%s", error ? error : "unknown error");
#endif
}

/* Puts the address of a function into the pointer at `function`; 0 if the library has none of that name. */
CONTACT_FMU_FUNCTION int ContactFmu_find(void *library, const char *name, void *function) {
    /* A pointer to data may not be cast to one to a function in ISO C. */
#ifdef _WIN32
    FARPROC address = GetProcAddress((HMODULE)library, name);
#else
    void *address = dlsym(library, name);
#endif
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

/* 1 if the library has all functions, else 0 with a message. */
CONTACT_FMU_FUNCTION int ContactFmu_findAll(ContactFmu_Engine *engine) {
    struct {
        const char *name;
        void *function;
    } functions[13];
    size_t i, count = sizeof functions / sizeof functions[0];
    functions[0].name = "fmi2Instantiate", functions[0].function = &engine->instantiate;
    functions[1].name = "fmi2FreeInstance", functions[1].function = &engine->freeInstance;
    functions[2].name = "fmi2SetupExperiment", functions[2].function = &engine->setupExperiment;
    functions[3].name = "fmi2EnterInitializationMode", functions[3].function = &engine->enterInitializationMode;
    functions[4].name = "fmi2ExitInitializationMode", functions[4].function = &engine->exitInitializationMode;
    functions[5].name = "fmi2Terminate", functions[5].function = &engine->terminate;
    functions[6].name = "fmi2SetReal", functions[6].function = &engine->setReal;
    functions[7].name = "fmi2GetReal", functions[7].function = &engine->getReal;
    functions[8].name = "fmi2GetInteger", functions[8].function = &engine->getInteger;
    functions[9].name = "fmi2GetFMUstate", functions[9].function = &engine->getState;
    functions[10].name = "fmi2SetFMUstate", functions[10].function = &engine->setState;
    functions[11].name = "fmi2FreeFMUstate", functions[11].function = &engine->freeState;
    functions[12].name = "fmi2DoStep", functions[12].function = &engine->doStep;
    for (i = 0; i < count; i++) {
        if (!ContactFmu_find(engine->library, functions[i].name, functions[i].function)) {
            snprintf(engine->message, sizeof engine->message, "the library lacks the function %s", functions[i].name);
            return 0;
        }
    }
    return 1;
}

CONTACT_FMU_FUNCTION int ContactFmu_copy(ContactFmu_References *to, const int *from, size_t count) {
    size_t i;
    to->values = (unsigned int *)calloc(count + 1, sizeof *to->values);
    if (!to->values) return 0;
    to->count = count;
    for (i = 0; i < count; i++) to->values[i] = (unsigned int)from[i];
    return 1;
}

/* Ends what there is of an engine. */
CONTACT_FMU_FUNCTION void ContactFmu_close(void *object) {
    ContactFmu_Engine *engine = (ContactFmu_Engine *)object;
    if (!engine) return;
    if (engine->component) {
        if (engine->before) engine->freeState(engine->component, &engine->before);
        if (engine->started) engine->terminate(engine->component);
        engine->freeInstance(engine->component);
    }
    if (engine->library) ContactFmu_unload(engine->library);
    free(engine->inputs.values);
    free(engine->states.values);
    free(engine->results.values);
    free(engine->counts.values);
    free(engine);
}

/* Loads the library, makes an instance and sets its parameters; 0 with a message if that fails. */
CONTACT_FMU_FUNCTION int ContactFmu_make(ContactFmu_Engine *engine, const char *libraries, const char *resources,
                                         const char *guid, const ContactFmu_References *parameters,
                                         const double *values) {
    const int coSimulation = 1;
    char path[2 * CONTACT_FMU_TEXT];
    if (strlen(libraries) + sizeof CONTACT_FMU_LIBRARY > sizeof path) {
        snprintf(engine->message, sizeof engine->message, "the path of the libraries is too long");
        return 0;
    }
    snprintf(path, sizeof path, "%s%s", libraries, CONTACT_FMU_LIBRARY);
    engine->library = ContactFmu_load(path);
    if (!engine->library) {
        char reason[CONTACT_FMU_TEXT / 2];
        ContactFmu_loadError(reason, sizeof reason);
        snprintf(engine->message, sizeof engine->message,
                 "cannot load the contact engine for the platform %s from %.400s: %s", CONTACT_FMU_PLATFORM, libraries,
                 reason);
        return 0;
    }
    if (!ContactFmu_findAll(engine)) return 0;
    engine->callbacks.logger = ContactFmu_log;
    engine->callbacks.allocateMemory = calloc;
    engine->callbacks.freeMemory = free;
    engine->callbacks.componentEnvironment = engine;
    snprintf(engine->message, sizeof engine->message, "the contact engine cannot be made");
    engine->component =
        engine->instantiate(engine->name, coSimulation, guid, resources, &engine->callbacks, 0, 0);
    if (!engine->component) return 0;
    return engine->setReal(engine->component, parameters->values, parameters->count, values) <= ContactFmu_Warning;
}

/* The constructor of Internal.Engine. */
CONTACT_FMU_FUNCTION void *ContactFmu_open(const char *name, const char *libraries, const char *resources,
                                           const char *guid, const int *parameterReferences, size_t parameterCount,
                                           const double *parameters, size_t valueCount, const int *inputReferences,
                                           size_t inputCount, const int *stateReferences, size_t stateCount,
                                           const int *resultReferences, size_t resultCount,
                                           const int *countReferences, size_t countCount) {
    char message[CONTACT_FMU_TEXT];
    ContactFmu_References given = {NULL, 0};
    int made;
    ContactFmu_Engine *engine = (ContactFmu_Engine *)calloc(1, sizeof *engine);
    if (!engine) {
        ModelicaFormatError("%s: no memory for the contact engine", name);
        return NULL;
    }
    snprintf(engine->name, sizeof engine->name, "%s", name);
    snprintf(engine->message, sizeof engine->message, "no memory for the contact engine");
    made = parameterCount == valueCount && ContactFmu_copy(&given, parameterReferences, parameterCount) &&
           ContactFmu_copy(&engine->inputs, inputReferences, inputCount) &&
           ContactFmu_copy(&engine->states, stateReferences, stateCount) &&
           ContactFmu_copy(&engine->results, resultReferences, resultCount) &&
           ContactFmu_copy(&engine->counts, countReferences, countCount) &&
           ContactFmu_make(engine, libraries, resources, guid, &given, parameters);
    free(given.values);
    if (!made) {
        memcpy(message, engine->message, sizeof message);
        ContactFmu_close(engine);
        ModelicaFormatError("%s: %s", name, message);
        return NULL;
    }
    return engine;
}

/* Brings the engine to the start of the step; anything but OK and Warning is an error. */
CONTACT_FMU_FUNCTION ContactFmu_Status ContactFmu_arrive(ContactFmu_Engine *engine, double now,
                                                         const double *inputs) {
    void *component = engine->component;
    ContactFmu_Status status;
    if (engine->started && now == engine->time) {
        /* The tool evaluates the event once more, maybe with other values: the same step again. */
        status = engine->setState(component, engine->before);
        if (status > ContactFmu_Warning) return status;
        return engine->setReal(component, engine->inputs.values, engine->inputs.count, inputs);
    }
    if (!engine->started) {
        status = engine->setupExperiment(component, 0, 0.0, now, 0, 0.0);
        if (status > ContactFmu_Warning) return status;
        status = engine->enterInitializationMode(component);
        if (status > ContactFmu_Warning) return status;
        status = engine->setReal(component, engine->inputs.values, engine->inputs.count, inputs);
        if (status > ContactFmu_Warning) return status;
        status = engine->exitInitializationMode(component);
        if (status > ContactFmu_Warning) return status;
        engine->started = 1;
    }
    status = engine->getState(component, &engine->before);
    if (status > ContactFmu_Warning) return status;
    engine->time = now;
    return engine->setReal(component, engine->inputs.values, engine->inputs.count, inputs);
}

/* The function Internal.step: from `now` over one period. States are those at its start, results and counts belong to
   the whole of it. */
CONTACT_FMU_FUNCTION void ContactFmu_step(void *object, double now, double period, const double *inputs,
                                          size_t inputCount, double *states, size_t stateCount, double *results,
                                          size_t resultCount, int *counts, size_t countCount) {
    ContactFmu_Engine *engine = (ContactFmu_Engine *)object;
    void *component = engine->component;
    ContactFmu_Status status;
    if (inputCount != engine->inputs.count || stateCount != engine->states.count ||
        resultCount != engine->results.count || countCount != engine->counts.count) {
        ModelicaFormatError("%s: the number of inputs or outputs is not that of the model", engine->name);
        return;
    }
    snprintf(engine->message, sizeof engine->message, "unknown error");
    status = ContactFmu_arrive(engine, now, inputs);
    if (status <= ContactFmu_Warning)
        status = engine->getReal(component, engine->states.values, stateCount, states);
    if (status <= ContactFmu_Warning) status = engine->doStep(component, now, period, 0);
    if (status <= ContactFmu_Warning)
        status = engine->getReal(component, engine->results.values, resultCount, results);
    if (status <= ContactFmu_Warning)
        status = engine->getInteger(component, engine->counts.values, countCount, counts);
    if (status > ContactFmu_Warning) ModelicaFormatError("%s: %s", engine->name, engine->message);
}

/* The function Internal.quaternion: `w x y z` from body to world of a matrix in rows that takes vectors from world to
   body, as in Modelica.Mechanics.MultiBody.Frames.Orientation. The largest component is found first, so that nothing
   cancels: Shepperd, Quaternion from rotation matrix, J. Guidance and Control 1(3), 1978. */
CONTACT_FMU_FUNCTION void ContactFmu_quaternion(const double *T, double *q) {
    double squares[4], scale;
    int i, largest = 0;
    squares[0] = 1.0 + T[0] + T[4] + T[8];
    squares[1] = 1.0 + T[0] - T[4] - T[8];
    squares[2] = 1.0 - T[0] + T[4] - T[8];
    squares[3] = 1.0 - T[0] - T[4] + T[8];
    for (i = 1; i < 4; i++) {
        if (squares[i] > squares[largest]) largest = i;
    }
    switch (largest) {
    case 0:
        q[0] = squares[0], q[1] = T[5] - T[7], q[2] = T[6] - T[2], q[3] = T[1] - T[3];
        break;
    case 1:
        q[0] = T[5] - T[7], q[1] = squares[1], q[2] = T[1] + T[3], q[3] = T[6] + T[2];
        break;
    case 2:
        q[0] = T[6] - T[2], q[1] = T[1] + T[3], q[2] = squares[2], q[3] = T[5] + T[7];
        break;
    default:
        q[0] = T[1] - T[3], q[1] = T[6] + T[2], q[2] = T[5] + T[7], q[3] = squares[3];
        break;
    }
    scale = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (i = 0; i < 4; i++) q[i] /= scale;
}

#endif
