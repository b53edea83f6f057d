/* Which executor takes the next job, and who waits. */
#include <pthread.h>
#include <stdatomic.h>

#include "support/test.h"
#include "worker/queue.h"

static tp_worker_options options;
static struct tpi_lifetime life;
static struct tpi_queue queue;

/* Plan hold, and a job that was claimed by a lease before; so many executors, who are all busy. */
static void begin(struct tpi_job *job, size_t executors, int threads_max) {
    options =
        (tp_worker_options){.threads = 1, .threads_max = threads_max, .queue = 10, .keep_alive_ms = 3600000};
    life = (struct tpi_lifetime){.stop_ms = 0};
    queue = (struct tpi_queue){.life = &life, .options = &options, .held = true, .executors = executors};
    assert_true(tpi_lifetime_init(&life, 0) && pthread_mutex_init(&queue.lock, NULL) == 0);
    assert_true(tpi_signal_init(&life, &queue.work, &queue.lock));
    assert_true(tpi_signal_init(&life, &queue.room, &queue.lock));
    *job = (struct tpi_job){.number = 1};
    tpi_list_push(&queue.list, job);
}

static void end(void) {
    tpi_lifetime_free(&life);
    pthread_mutex_destroy(&queue.lock);
}

struct executor {
    pthread_t thread;
    struct tpi_job *job;
    bool ended;
    atomic_bool popped;
};

static void *pop(void *arg) {
    struct executor *executor = arg;
    executor->job = tpi_queue_pop(&queue, &executor->ended);
    atomic_store(&executor->popped, true);
    return NULL;
}

static bool waits(void) {
    pthread_mutex_lock(&queue.lock);
    bool idle = queue.idle == 1;
    pthread_mutex_unlock(&queue.lock);
    return idle;
}

/* It takes nothing, and waits. */
static void start(struct executor *executor) {
    *executor = (struct executor){.ended = false};
    assert_int_equal(pthread_create(&executor->thread, NULL, pop, executor), 0);
    for (int i = 0; i < 30000 && !waits() && !atomic_load(&executor->popped); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_true(waits());
}

static struct tpi_job *join(struct executor *executor) {
    assert_int_equal(pthread_join(executor->thread, NULL), 0);
    assert_false(executor->ended);
    return executor->job;
}

TEST(test_queue__nothing_is_begun_while_what_was_done_cannot_be_stored_by_plan_hold_either) {
    struct tpi_job job;
    struct executor executor;
    begin(&job, 1, 1);
    tpi_queue_set_unanswered(&queue, true);
    start(&executor);
    tpi_queue_set_unanswered(&queue, false);
    assert_ptr_equal(join(&executor), &job);
    end();
}

/* It may not take the job itself, and plan hold has threads_max threads. */
TEST(test_queue__one_thread_more_than_threads_max_ends_when_another_has_taken_the_last_job) {
    struct tpi_job job;
    struct executor executor;
    bool ended = false;
    begin(&job, 2, 1);
    start(&executor);
    assert_ptr_equal(tpi_queue_pop(&queue, &ended), &job);
    assert_int_equal(pthread_join(executor.thread, NULL), 0);
    assert_true(executor.ended);
    assert_int_equal(queue.executors, 1);
    end();
}

/* As busy counted a thread that the system did not give. */
TEST(test_queue__who_waits_is_woken_when_one_thread_more_could_not_be_started) {
    struct tpi_job job;
    struct executor executor;
    begin(&job, 2, 1);
    start(&executor);
    tpi_queue_remove_executor(&queue);
    assert_ptr_equal(join(&executor), &job);
    end();
}
