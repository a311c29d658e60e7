/* cluster.c -- a command in several processes, which mpirun starts. mpi.c connects them. */
#include "cli/program.h"

#include <stdlib.h>

/* What the launcher says in a variable of Open MPI, or of MPICH and those like it. */
static int launcher(const char *open_mpi, const char *mpich, int otherwise) {
    const char *text = getenv(open_mpi) ? getenv(open_mpi) : getenv(mpich);
    return text ? atoi(text) : otherwise;
}

bool cluster_open(cluster *k) {
    *k = (cluster){.on_machine = 1};
    int processes = launcher("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1);
    if (processes < 2) return true;
#ifdef HEED_MPI
    if (!mpi_open(k)) return false;
    if (k->processes->rank == 0) return true;
    return freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr);
#else
    char why[200];
    snprintf(why, sizeof why,
             "%s was built without MPI: expected one process, found %d; hint: `make MPI=1`, or "
             "start it without mpirun",
             message_name(), processes);
    if (launcher("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0) == 0) print_note("", why);
    return false;
#endif
}

void cluster_close(cluster *k) {
#ifdef HEED_MPI
    if (k->processes) mpi_close(k);
#endif
    *k = (cluster){0};
}

bool is_first_process(const program *p) {
    return !p->cluster.processes || p->cluster.processes->rank == 0;
}

bool cluster_agree(program *p) {
    if (p->agreed) return heed_ctx_status(p->c) == HEED_OK;
    p->agreed = true;
    return heed_cluster_agree(p->c, p->cluster.processes);
}

/* Processes on one machine share its CPUs, unless the launcher has already divided them. */
int threads_of(const program *p, const heed_config *f) {
    const char *given = getenv("OMP_NUM_THREADS");
    int asked = heed_config_has(f, "threads") ? (int)heed_config_int(f, "threads") : 0;
    if (asked > 0 || p->cluster.on_machine < 2 || (given && *given)) return asked;
    heed_ctx *c = heed_open(NULL);
    int allowed = heed_threads(c), share = cpu_count() / p->cluster.on_machine;
    heed_close(c);
    return allowed < share ? allowed : share > 1 ? share : 1;
}

void add_launcher(const program *p, heed_text *out) {
    const heed_cluster *k = p->cluster.processes;
    if (k) heed_text_add(out, "mpirun -n %d ", k->ranks);
}
