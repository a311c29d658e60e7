/* heed_train in several processes, which are threads here: the engine below brings messages from
 * one to another. The weights have the same bits as those of one process. */
#include "fit_job.h"

#include <pthread.h>

/* ---- an engine: a queue of messages from each thread to each other ---- */

enum { RANKS = 5 };

typedef struct message {
    struct message *next;
    size_t n;
    char bytes[];
} message;

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    message *first[RANKS][RANKS], *last[RANKS][RANKS]; /* from, to */
    bool dead;                                         /* one of the threads has ended */
} post;

typedef struct {
    post *post;
    int rank, left; /* left: exchanges until it dies; 0: it does not */
} seat;

static void put(post *p, int from, int to, const void *bytes, size_t n) {
    message *m = malloc(sizeof *m + n);
    *m = (message){.n = n};
    memcpy(m->bytes, bytes, n);
    if (p->last[from][to])
        p->last[from][to]->next = m;
    else
        p->first[from][to] = m;
    p->last[from][to] = m;
    pthread_cond_broadcast(&p->arrived);
}

static bool take(post *p, int from, int to, void *bytes, size_t n) {
    while (!p->first[from][to] && !p->dead) pthread_cond_wait(&p->arrived, &p->mutex);
    message *m = p->first[from][to];
    if (!m) return false;
    if (!(p->first[from][to] = m->next)) p->last[from][to] = NULL;
    bool fits = m->n == n;
    if (fits) memcpy(bytes, m->bytes, n);
    free(m);
    return fits;
}

static bool exchange(void *user, int to, const void *out, size_t n, int from, void *in, size_t m) {
    seat *s = user;
    post *p = s->post;
    pthread_mutex_lock(&p->mutex);
    if (s->left > 0 && --s->left == 0) p->dead = true;
    if (p->dead) pthread_cond_broadcast(&p->arrived);
    bool ok = !p->dead;
    if (ok && n) put(p, s->rank, to, out, n);
    if (ok && m) ok = take(p, from, s->rank, in, m);
    pthread_mutex_unlock(&p->mutex);
    return ok;
}

/* ---- a model with batch norm, dropout, a layer used twice and a table of many numbers ---- */

typedef struct {
    heed_linear in, twice, head;
    heed_batchnorm norm;
    heed_dropout_layer drop;
    heed_tensor *table, *logits, *loss;
    bool recompute; /* the first use of `twice` */
} net;

enum { WIDTH = 8, TABLE = 1875 }; /* rows of the table for each unit of the setting `hidden` */

static bool net_init(void *self, heed_params *s, const void *f) {
    net *m = self;
    int rows = TABLE * (int)heed_config_int(f, "hidden");
    m->recompute = heed_config_bool(f, "recompute");
    m->table = heed_param_new(s, "table", "zero", 2, (int[]){rows, WIDTH});
    heed_linear_init(&m->in, s, "in", (heed_linear_args){.in = 2, .out = WIDTH});
    heed_batchnorm_init(&m->norm, s, "norm", WIDTH);
    heed_linear_init(&m->twice, s, "twice", (heed_linear_args){.in = WIDTH, .out = WIDTH});
    heed_dropout_layer_init(&m->drop, s, "drop", (heed_real)0.2);
    heed_linear_init(&m->head, s, "head", (heed_linear_args){.in = WIDTH, .out = 2});
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

static heed_tensor *first_use(const void *self, heed_tape *t,
                              heed_tensor *const in[HEED_RECOMPUTE]) {
    const net *m = self;
    return heed_linear_act(&m->twice, t, in[0], HEED_TANH);
}

static heed_tensor *net_loss(void *self, heed_tape *t, const heed_batch *b) {
    net *m = self;
    heed_tensor *in[HEED_RECOMPUTE] = {NULL};
    heed_tensor *x = heed_input(t, b->x, 2, (int[]){b->rows, 2});
    x = heed_add(t, heed_linear_apply(&m->in, t, x),
                 heed_embed(t, m->table, heed_input_ids(t, b->labels, 1, &b->rows)));
    in[0] = heed_batchnorm_apply(&m->norm, t, x);
    x = m->recompute ? heed_recompute(t, first_use, m, in) : first_use(m, t, in);
    x = heed_dropout_layer_apply(&m->drop, t, x);
    x = heed_linear_act(&m->twice, t, x, HEED_TANH);
    m->logits = heed_linear_apply(&m->head, t, x);
    return m->loss = heed_xent(t, m->logits, heed_input_ids(t, b->labels, 1, &b->rows), NULL);
}

static heed_model net_model(void) {
    heed_model m = tiny_model;
    m.name = "net";
    m.size = sizeof(net);
    m.init = net_init;
    m.loss = net_loss;
    m.metrics = NULL;
    return m;
}

/* ---- training runs of several threads ---- */

typedef struct {
    heed_model model;
    post post;
    seat seat[RANKS];
    heed_cluster cluster[RANKS];
    job job[RANKS];
    int ranks;
} team;

static void *run(void *j) {
    job_fit(j);
    return NULL;
}

/* settings of each thread; "" resumes. */
static void team_open(team *t, const char *run_name, const char *settings, int ranks) {
    *t = (team){.model = net_model(), .ranks = ranks};
    pthread_mutex_init(&t->post.mutex, NULL);
    pthread_cond_init(&t->post.arrived, NULL);
    for (int i = 0; i < ranks; i++) {
        job *j = &t->job[i];
        if (*settings)
            job_open(j, run_name, settings, (heed_options){.threads = 1});
        else
            job_open_resume(j, run_name, "", (heed_options){.threads = 1});
        t->seat[i] = (seat){.post = &t->post, .rank = i};
        t->cluster[i] = (heed_cluster){i, ranks, exchange, NULL, &t->seat[i]};
        j->args.model = &t->model;
        j->args.cluster = &t->cluster[i];
    }
}

static void team_fit(team *t) {
    pthread_t id[RANKS];
    for (int i = 1; i < t->ranks; i++) pthread_create(&id[i], NULL, run, &t->job[i]);
    run(&t->job[0]);
    for (int i = 1; i < t->ranks; i++) pthread_join(id[i], NULL);
}

static void team_close(team *t) {
    for (int i = 0; i < t->ranks; i++) heed_close(t->job[i].c);
    for (int from = 0; from < RANKS; from++)
        for (int to = 0; to < RANKS; to++)
            for (message *m = t->post.first[from][to], *next; m; m = next) {
                next = m->next;
                free(m);
            }
    pthread_cond_destroy(&t->post.arrived);
    pthread_mutex_destroy(&t->post.mutex);
}

static void train(const char *name, const char *settings, int ranks) {
    team t;
    team_open(&t, name, settings, ranks);
    team_fit(&t);
    for (int i = 0; i < ranks; i++) {
        const job *j = &t.job[i];
        if (heed_ctx_status(j->c) != HEED_OK)
            test_fail(__FILE__, __LINE__, "%d of %d: %s", i, ranks, heed_ctx_error(j->c));
        CHECK(j->result.loss == t.job[0].result.loss);
        CHECK(j->result.val_loss == t.job[0].result.val_loss);
        CHECK((j->count[HEED_FIT_STEP] > 0) == (i == 0)); /* only the first one reports */
    }
    team_close(&t);
}

#define SETTINGS "hidden=1 steps=12 lr=0.01 eval-every=5 save-every=3 batch=4 "

/* Trains with one process, and with each number of threads from `least` to `most`. */
static void compare(const char *settings, int least, int most) {
    train("one", settings, 1);
    for (int ranks = least; ranks <= most; ranks++) {
        char run[16];
        snprintf(run, sizeof run, "of%d", ranks);
        train(run, settings, ranks);
        if (!same_run("one", run)) test_fail(__FILE__, __LINE__, "%s, %d", settings, ranks);
    }
}

TEST(fit_cluster_gives_the_same_bits) { compare(SETTINGS "accumulate=8", 2, RANKS); }

TEST(fit_cluster_divides_odd_numbers) { compare(SETTINGS "accumulate=5 optimizer=lion", 2, RANKS); }

/* More numbers than three buckets hold, so that some are on their way during backward. */
TEST(fit_cluster_sends_during_backward) { compare("hidden=64 steps=3 batch=4 accumulate=7", 3, 3); }

/* A parameter that is read within a recomputed part and outside of it is complete at the end. */
TEST(fit_cluster_recomputes) {
    compare("hidden=1 steps=3 batch=4 accumulate=5 recompute=true", 2, 2);
    train("kept", "hidden=1 steps=3 batch=4 accumulate=5", 2);
    CHECK(same_run("one", "kept"));
}

TEST(fit_cluster_divides_gradient_descent) { compare(SETTINGS "optimizer=gd lr=0.1", 2, 3); }

/* Stops after a step, and goes on with another number of threads. */
TEST(fit_cluster_resumes_with_another_number) {
    static const int ranks[] = {3, 1, 4, 2};
    train("whole", SETTINGS "accumulate=8", 2);
    for (int i = 0; i < 4; i++) {
        team t;
        team_open(&t, "parts", i ? "" : SETTINGS "accumulate=8", ranks[i]);
        t.job[0].stop_at = 3 * i + 2;
        if (i < 3) team_fit(&t);
        for (int r = 0; r < t.ranks && i < 3; r++)
            CHECK(heed_ctx_status(t.job[r].c) == HEED_INTERRUPTED);
        CHECK_HAS(i < 3 ? heed_ctx_error(t.job[0].c) : "`resume ", "`resume ");
        team_close(&t);
    }
    train("parts", "", 2);
    CHECK(same_run("whole", "parts"));
}

/* ---- what goes wrong ---- */

static void check_error(team *t, heed_status status, const char *error) {
    team_fit(t);
    for (int i = 0; i < t->ranks; i++) CHECK(heed_ctx_status(t->job[i].c) == status);
    CHECK_HAS(heed_ctx_error(t->job[0].c), error);
    team_close(t);
}

TEST(fit_cluster_refuses_processes_that_differ) {
    team t;
    team_open(&t, "no", SETTINGS "accumulate=4", 3);
    t.job[2].open.checksum++;
    check_error(&t, HEED_USAGE, "process 2: data differs from that of process 0");
    team_open(&t, "no", SETTINGS "accumulate=4", 3);
    heed_config_set(t.job[1].args.config, "lr", "0.5", "test", HEED_FROM_FLAG);
    check_error(&t, HEED_USAGE, "process 1: settings differ from those of process 0: `lr`");
    team_open(&t, "no", SETTINGS "accumulate=2", 3);
    check_error(&t, HEED_USAGE, "`accumulate`: expected at least 3, one for each process, found 2");
    team_open(&t, "no", SETTINGS "accumulate=2", 2);
    heed_close(t.job[1].c);
    job_open(&t.job[1], "no", SETTINGS "accumulate=2",
             (heed_options){.threads = 1, .isa = "generic"});
    t.job[1].args.model = &t.model;
    t.job[1].args.cluster = &t.cluster[1];
    if (strcmp(heed_isa(t.job[0].c), "generic") != 0)
        check_error(&t, HEED_USAGE, "process 1: instruction set differs");
    else
        team_close(&t);
    CHECK(!exists("no", "config.conf"));
}

TEST(fit_cluster_ends_when_one_process_fails) {
    for (int rank = 0; rank < 3; rank++) {
        team t;
        char error[32];
        snprintf(error, sizeof error, rank ? "process %d: training diverged" : "training diverged",
                 rank);
        team_open(&t, "diverged", SETTINGS "accumulate=4", 3);
        t.job[0].args.force = true;
        t.job[rank].data.poison = 7;
        check_error(&t, HEED_DIVERGED, error);
    }
}

/* A process that ends after any number of messages leaves the others an error, and the run a
 * checkpoint from which any number continues. */
TEST(fit_cluster_survives_a_dead_process) {
    train("steady", SETTINGS "accumulate=8", 1);
    for (int left = 60; left < 300; left += 70) {
        team t;
        team_open(&t, "died", SETTINGS "accumulate=8", 3);
        t.seat[1 + left % 2].left = left;
        t.job[0].args.force = true;
        team_fit(&t);
        bool done = heed_ctx_status(t.job[0].c) == HEED_OK;
        if (!done) CHECK_HAS(heed_ctx_error(t.job[0].c), "cannot reach another one");
        team_close(&t);
        if (!done && exists("died", "last/state.json")) train("died", "", 2);
        if (exists("died", "last/state.json")) CHECK(same_run("steady", "died"));
    }
    CHECK(exists("died", "last/state.json"));
}

TEST(fit_cluster_checks_its_description) {
    team t;
    team_open(&t, NULL, SETTINGS "accumulate=2", 1);
    t.cluster[0].ranks = 2;
    t.cluster[0].exchange = NULL;
    check_error(&t, HEED_USAGE, "cluster is wrong");
}
