/* Solves one problem file with the solvers of Siconos numerics.
 *
 * usage: siconos_peer lcp|boxed|cone FILE [SECONDS_PER_SOLVER]
 *
 * One line a solver and tolerance: name, tolerance, return code, natural residual relative to |q|, seconds per
 * solve (the fastest group of solves). Each runs in its own process, because a Siconos solver may exit or not end.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "FrictionContactProblem.h"
#include "Friction_cst.h"
#include "LinearComplementarityProblem.h"
#include "NonSmoothDrivers.h"
#include "NumericsMatrix.h"
#include "NumericsVerbose.h"
#include "RelayProblem.h"
#include "SolverOptions.h"
#include "SparseBlockMatrix.h"
#include "lcp_cst.h"
#include "relay_cst.h"

enum kind { LCP, BOXED, CONE };
enum storage { DENSE, BLOCKS };

/* A problem as in its file; `matrix` is column-major, as Siconos wants it. */
struct problem {
  enum kind kind;
  int rows;
  int contacts;
  double *matrix, *q, *lower, *upper, *mu;
};

/* A call of one solver: the same Siconos structures serve every repetition. */
struct task {
  const struct problem *problem;
  const char *name;
  int solver;
  int local_solver;
  enum storage storage;
  int as_lcp;
  double tolerance;
};

static void fail(const char *message, const char *detail) {
  fprintf(stderr, "siconos_peer: %s %s\n", message, detail);
  exit(1);
}

static double *numbers(FILE *file, size_t count) {
  double *values = malloc((count ? count : 1) * sizeof *values);
  for (size_t i = 0; i < count; ++i)
    if (fscanf(file, "%lf", &values[i]) != 1) fail("too few numbers in the", "file");
  return values;
}

static struct problem read_problem(enum kind kind, const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail("cannot open", path);
  struct problem p = {.kind = kind};
  int size;
  if (fscanf(file, "%d", &size) != 1 || size <= 0) fail("no size in", path);
  p.contacts = kind == CONE ? size : 0;
  p.rows = kind == CONE ? 3 * size : size;
  size_t n = (size_t)p.rows;
  double *rows = numbers(file, n * n);
  p.matrix = malloc(n * n * sizeof *p.matrix);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) p.matrix[i + j * n] = rows[i * n + j];
  free(rows);
  p.q = numbers(file, n);
  if (kind == BOXED) {
    p.lower = numbers(file, n);
    p.upper = numbers(file, n);
  }
  if (kind == CONE) p.mu = numbers(file, (size_t)p.contacts);
  fclose(file);
  return p;
}

static void product(const struct problem *p, const double *z, double *w) {
  memcpy(w, p->q, (size_t)p->rows * sizeof *w);
  for (int j = 0; j < p->rows; ++j)
    for (int i = 0; i < p->rows; ++i) w[i] += p->matrix[i + j * p->rows] * z[j];
}

static void project(double *x, double mu) {
  double tangential = hypot(x[1], x[2]);
  if (tangential <= mu * x[0]) return;
  if (mu * tangential <= -x[0]) {
    x[0] = x[1] = x[2] = 0.0;
    return;
  }
  double height = (x[0] + mu * tangential) / (1.0 + mu * mu);
  x[1] *= mu * height / tangential;
  x[2] *= mu * height / tangential;
  x[0] = height;
}

static double natural_residual(const struct problem *p, const double *z) {
  double *w = malloc((size_t)p->rows * sizeof *w);
  product(p, z, w);
  double square = 0.0, scale = 0.0;
  for (int i = 0; i < p->rows; ++i) scale += p->q[i] * p->q[i];
  if (p->kind == CONE) {
    for (int c = 0; c < p->contacts; ++c) {
      const double *r = z + 3 * c, *u = w + 3 * c;
      double x[3] = {r[0] - u[0] - p->mu[c] * hypot(u[1], u[2]), r[1] - u[1], r[2] - u[2]};
      project(x, p->mu[c]);
      for (int k = 0; k < 3; ++k) square += (r[k] - x[k]) * (r[k] - x[k]);
    }
  } else {
    for (int i = 0; i < p->rows; ++i) {
      double lower = p->kind == BOXED ? p->lower[i] : 0.0, upper = p->kind == BOXED ? p->upper[i] : INFINITY;
      double target = fmin(fmax(z[i] - w[i], lower), upper);
      square += (z[i] - target) * (z[i] - target);
    }
  }
  free(w);
  double residual = sqrt(square) / (scale > 0.0 ? sqrt(scale) : 1.0);
  return isfinite(residual) ? residual : INFINITY;
}

static NumericsMatrix *dense_matrix(int rows, double *columns) {
  return NM_create_from_data(NM_DENSE, rows, rows, columns);
}

/* The nonzero 3 x 3 blocks. */
static NumericsMatrix *block_matrix(const struct problem *p) {
  unsigned int count = 0, limit = (unsigned int)(p->contacts * p->contacts);
  unsigned int *row = malloc(limit * sizeof *row), *column = malloc(limit * sizeof *column);
  double *blocks = malloc(9 * (size_t)limit * sizeof *blocks);
  for (int i = 0; i < p->contacts; ++i)
    for (int j = 0; j < p->contacts; ++j) {
      double *block = blocks + 9 * (size_t)count;
      int full = i == j;
      for (int k = 0; k < 9; ++k) {
        block[k] = p->matrix[(3 * i + k % 3) + (size_t)(3 * j + k / 3) * (size_t)p->rows];
        full |= block[k] != 0.0;
      }
      if (!full) continue;
      /* Siconos counts these from one. */
      row[count] = (unsigned int)i + 1;
      column[count++] = (unsigned int)j + 1;
    }
  unsigned int contacts = (unsigned int)p->contacts;
  SparseBlockCoordinateMatrix *coordinates = SBCM_new_3x3(contacts, contacts, count, row, column, blocks);
  return NM_create_from_data(NM_SPARSE_BLOCK, p->rows, p->rows, SBCM_to_SBM(coordinates));
}

/* `lower <= z <= upper` as LCP in (z - lower, multipliers of the finite upper bounds). */
static LinearComplementarityProblem lcp_of_boxed(const struct problem *p) {
  int n = p->rows, size = n;
  for (int i = 0; i < n; ++i) size += isfinite(p->upper[i]) ? 1 : 0;
  double *columns = calloc((size_t)size * (size_t)size, sizeof *columns);
  double *q = calloc((size_t)size, sizeof *q);
  product(p, p->lower, q);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) columns[i + (size_t)j * (size_t)size] = p->matrix[i + j * n];
  for (int i = 0, k = n; i < n; ++i) {
    if (!isfinite(p->upper[i])) continue;
    columns[i + (size_t)k * (size_t)size] = 1.0;
    columns[k + (size_t)i * (size_t)size] = -1.0;
    q[k++] = p->upper[i] - p->lower[i];
  }
  return (LinearComplementarityProblem){.size = size, .M = dense_matrix(size, columns), .q = q};
}

static double seconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The clock of our side; for long solves, which other processes interrupt, the time of the processor. That clock is
 * not for short ones: under a hypervisor it can stand still for a whole group. */
static double time_of(double elapsed, double used) {
  return elapsed > 1e-3 && used > 0.0 ? fmin(elapsed, used) : elapsed;
}

static void run(const struct task *task, double seconds, FILE *results) {
  const struct problem *p = task->problem;
  NumericsMatrix *matrix = task->storage == BLOCKS ? block_matrix(p) : dense_matrix(p->rows, p->matrix);
  LinearComplementarityProblem lcp = {.size = p->rows, .M = matrix, .q = p->q};
  if (task->as_lcp) lcp = lcp_of_boxed(p);
  RelayProblem relay = {.size = p->rows, .M = matrix, .q = p->q, .lb = p->lower, .ub = p->upper};
  FrictionContactProblem cone = {
      .dimension = 3, .numberOfContacts = p->contacts, .M = matrix, .q = p->q, .mu = p->mu};
  SolverOptions *options = solver_options_create(task->solver);
  if (task->local_solver) solver_options_update_internal(options, 0, task->local_solver);
  int iterative = task->tolerance > 0.0;
  if (iterative) options->iparam[SICONOS_IPARAM_MAX_ITER] = 1000000;
  size_t unknowns = (size_t)(task->as_lcp ? lcp.size : p->rows);
  double *z = calloc(unknowns, sizeof *z), *w = calloc(unknowns, sizeof *w);
  int info = 0;
  double best = INFINITY, spent = 0.0;
  long group = 1;
  do {
    double used = -seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    double elapsed = -seconds_of(CLOCK_MONOTONIC);
    for (long i = 0; i < group; ++i) {
      memset(z, 0, unknowns * sizeof *z);
      memset(w, 0, unknowns * sizeof *w);
      if (iterative) options->dparam[SICONOS_DPARAM_TOL] = task->tolerance;
      if (p->kind == CONE)
        info = fc3d_driver(&cone, z, w, options);
      else if (p->kind == BOXED && !task->as_lcp)
        info = relay_driver(&relay, z, w, options);
      else
        info = linearComplementarity_driver(&lcp, z, w, options);
    }
    elapsed += seconds_of(CLOCK_MONOTONIC);
    used += seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    double taken = time_of(elapsed, used);
    spent += taken;
    best = fmin(best, taken / (double)group);
    /* Groups of about 50 us: the clock itself then costs less than a percent. */
    group = best > 5e-5 ? 1 : 1 + (long)(5e-5 / fmax(best, 1e-8));
  } while (spent < seconds);
  if (task->as_lcp)
    for (int i = 0; i < p->rows; ++i) z[i] += p->lower[i];
  fprintf(results, "%s\t%g\t%d\t%.3e\t%.4e\n", task->name, task->tolerance, info, natural_residual(p, z), best);
  fflush(results);
}

/* Runs the task in a process of its own; a solver that exits, crashes or exceeds the time leaves no line. */
static void run_apart(const struct task *task, double seconds) {
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) fail("cannot", "fork");
  if (child == 0) {
    FILE *results = fdopen(dup(STDOUT_FILENO), "w");
    if (!results || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    alarm((unsigned int)(20.0 * seconds) + 5);
    run(task, seconds, results);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static const double TOLERANCES[] = {1e-6, 1e-8, 1e-10, 1e-12};
#define TOLERANCE_COUNT (int)(sizeof TOLERANCES / sizeof *TOLERANCES)

static const struct task LCP_SOLVERS[] = {
    {.name = "LCP_LEMKE", .solver = SICONOS_LCP_LEMKE},
    {.name = "LCP_PIVOT", .solver = SICONOS_LCP_PIVOT},
    {.name = "LCP_PIVOT_LUMOD", .solver = SICONOS_LCP_PIVOT_LUMOD},
    {.name = "LCP_BARD", .solver = SICONOS_LCP_BARD},
    {.name = "LCP_MURTY", .solver = SICONOS_LCP_MURTY},
    {.name = "LCP_AVI_CAOFERRIS", .solver = SICONOS_LCP_AVI_CAOFERRIS},
    {.name = "LCP_PATHSEARCH", .solver = SICONOS_LCP_PATHSEARCH},
    {.name = "LCP_PGS", .solver = SICONOS_LCP_PGS, .tolerance = 1},
    {.name = "LCP_PSOR", .solver = SICONOS_LCP_PSOR, .tolerance = 1},
    {.name = "LCP_RPGS", .solver = SICONOS_LCP_RPGS, .tolerance = 1},
    {.name = "LCP_CPG", .solver = SICONOS_LCP_CPG, .tolerance = 1},
    {.name = "LCP_LATIN", .solver = SICONOS_LCP_LATIN, .tolerance = 1},
    {.name = "LCP_NEWTONMIN", .solver = SICONOS_LCP_NEWTONMIN, .tolerance = 1},
    {.name = "LCP_NEWTON_FB_FBLSA", .solver = SICONOS_LCP_NEWTON_FB_FBLSA, .tolerance = 1},
    {.name = "LCP_NEWTON_MIN_FBLSA", .solver = SICONOS_LCP_NEWTON_MIN_FBLSA, .tolerance = 1},
};

static const struct task BOXED_SOLVERS[] = {
    {.name = "RELAY_PGS", .solver = SICONOS_RELAY_PGS, .tolerance = 1},
    {.name = "RELAY_LEMKE", .solver = SICONOS_RELAY_LEMKE},
    {.name = "RELAY_AVI_CAOFERRIS", .solver = SICONOS_RELAY_AVI_CAOFERRIS},
    {.name = "as LCP_LEMKE", .solver = SICONOS_LCP_LEMKE, .as_lcp = 1},
    {.name = "as LCP_PIVOT_LUMOD", .solver = SICONOS_LCP_PIVOT_LUMOD, .as_lcp = 1},
    {.name = "as LCP_NEWTONMIN", .solver = SICONOS_LCP_NEWTONMIN, .as_lcp = 1, .tolerance = 1},
    {.name = "as LCP_NEWTON_MIN_FBLSA", .solver = SICONOS_LCP_NEWTON_MIN_FBLSA, .as_lcp = 1, .tolerance = 1},
    {.name = "as LCP_NEWTON_FB_FBLSA", .solver = SICONOS_LCP_NEWTON_FB_FBLSA, .as_lcp = 1, .tolerance = 1},
};

static const struct task CONE_SOLVERS[] = {
    {.name = "NSGS", .solver = SICONOS_FRICTION_3D_NSGS, .tolerance = 1},
    {.name = "NSGS blocks", .solver = SICONOS_FRICTION_3D_NSGS, .storage = BLOCKS, .tolerance = 1},
    {.name = "NSGS projection",
     .solver = SICONOS_FRICTION_3D_NSGS,
     .local_solver = SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration,
     .tolerance = 1},
    {.name = "NSGS projection blocks",
     .solver = SICONOS_FRICTION_3D_NSGS,
     .local_solver = SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration,
     .storage = BLOCKS,
     .tolerance = 1},
    {.name = "NSN_AC", .solver = SICONOS_FRICTION_3D_NSN_AC, .tolerance = 1},
    {.name = "NSN_AC blocks", .solver = SICONOS_FRICTION_3D_NSN_AC, .storage = BLOCKS, .tolerance = 1},
    {.name = "NSN_FB", .solver = SICONOS_FRICTION_3D_NSN_FB, .tolerance = 1},
    {.name = "NSN_NM", .solver = SICONOS_FRICTION_3D_NSN_NM, .tolerance = 1},
    {.name = "ADMM", .solver = SICONOS_FRICTION_3D_ADMM, .tolerance = 1},
    {.name = "PROX", .solver = SICONOS_FRICTION_3D_PROX, .tolerance = 1},
    {.name = "TFP", .solver = SICONOS_FRICTION_3D_TFP, .tolerance = 1},
    {.name = "ACLMFP", .solver = SICONOS_FRICTION_3D_ACLMFP, .tolerance = 1},
    {.name = "VI_EG", .solver = SICONOS_FRICTION_3D_VI_EG, .tolerance = 1},
};

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

int main(int argc, char **argv) {
  if (argc < 3) fail("usage: siconos_peer", "lcp|boxed|cone FILE [SECONDS_PER_SOLVER]");
  enum kind kind = LCP;
  if (!strcmp(argv[1], "boxed"))
    kind = BOXED;
  else if (!strcmp(argv[1], "cone"))
    kind = CONE;
  else if (strcmp(argv[1], "lcp"))
    fail("unknown kind", argv[1]);
  double seconds = argc > 3 ? atof(argv[3]) : 0.05;
  struct problem problem = read_problem(kind, argv[2]);
  const struct task *tasks = kind == LCP ? LCP_SOLVERS : kind == BOXED ? BOXED_SOLVERS : CONE_SOLVERS;
  int count = kind == LCP ? COUNT(LCP_SOLVERS) : kind == BOXED ? COUNT(BOXED_SOLVERS) : COUNT(CONE_SOLVERS);
  numerics_set_verbose(0);
  for (int i = 0; i < count; ++i) {
    struct task task = tasks[i];
    task.problem = &problem;
    int tolerances = task.tolerance > 0.0 ? TOLERANCE_COUNT : 1;
    for (int k = 0; k < tolerances; ++k) {
      if (tolerances > 1) task.tolerance = TOLERANCES[k];
      run_apart(&task, seconds);
    }
  }
  return 0;
}
