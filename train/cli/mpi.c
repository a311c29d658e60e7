/* mpi.c -- the processes of a training run, connected by MPI. The only file that knows it; compiled
 * by make MPI=1. */
#define OMPI_SKIP_MPICXX 1 /* no header of C++ */
#include "cli/program.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Two requests for each exchange that is not known to be done, in their order. */
typedef struct {
    heed_cluster cluster;
    MPI_Request *list;
    size_t count, capacity;
} engine;

/* MPI ends all processes if a message is lost, so there are no errors to return. */
static bool exchange(void *user, int to, const void *out, size_t n, int from, void *in, size_t m) {
    engine *e = user;
    if (e->count + 2 > e->capacity) {
        size_t capacity = 2 * e->capacity + 64;
        MPI_Request *list = realloc(e->list, capacity * sizeof *list);
        if (!list) return false;
        e->list = list;
        e->capacity = capacity;
    }
    MPI_Request *r = e->list + e->count;
    r[0] = r[1] = MPI_REQUEST_NULL;
    if (n) MPI_Isend(out, (int)n, MPI_BYTE, to, 0, MPI_COMM_WORLD, &r[0]);
    if (m) MPI_Irecv(in, (int)m, MPI_BYTE, from, 0, MPI_COMM_WORLD, &r[1]);
    e->count += 2;
    return true;
}

static bool wait_for(void *user, size_t pending) {
    engine *e = user;
    if (e->count <= 2 * pending) return true;
    size_t done = e->count - 2 * pending;
    MPI_Waitall((int)done, e->list, MPI_STATUSES_IGNORE);
    memmove(e->list, e->list + done, 2 * pending * sizeof *e->list);
    e->count -= done;
    return true;
}

bool mpi_open(cluster *k) {
    int level;
    MPI_Comm machine;
    engine *e = calloc(1, sizeof *e);
    if (!e || MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        free(e);
        return false;
    }
    e->cluster = (heed_cluster){.exchange = exchange, .wait = wait_for, .user = e};
    MPI_Comm_rank(MPI_COMM_WORLD, &e->cluster.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &e->cluster.ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &k->on_machine);
    MPI_Comm_free(&machine);
    k->processes = &e->cluster;
    return true;
}

void mpi_close(cluster *k) {
    engine *e = k->processes->user;
    MPI_Finalize();
    free(e->list);
    free(e);
}
