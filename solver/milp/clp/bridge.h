// What the Go binding of Clp lacks: see bridge.go.

#ifdef __cplusplus
extern "C" {
#endif

// Functions that may fail return 0, or an exception's message, which must be freed.

// hedge_clp_load copies a model by columns, without gaps, into a ClpSimplex.
char *hedge_clp_load(void *simplex, int columns, int rows, const int *begin, const int *index, const double *value,
                const double *lower, const double *upper, const double *cost, const double *row_lower,
                const double *row_upper);

// hedge_clp_watch makes a ClpSimplex stop at its next step once *stop is not zero. stop must outlive the solve.
char *hedge_clp_watch(void *simplex, const int *stop);

// hedge_clp_solve solves with presolve, by a method of clp.go's Method, and puts the model's status into *status.
char *hedge_clp_solve(void *simplex, int method, int *status);

// hedge_clp_iterations is how many steps the last solve took.
int hedge_clp_iterations(void *simplex);

// hedge_clp_free frees a ClpSimplex.
void hedge_clp_free(void *simplex);

// hedge_clp_version is the library's version.
const char *hedge_clp_version(void);

#ifdef __cplusplus
}
#endif
