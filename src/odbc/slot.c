/* Mutexes and conditions of the write slot and the connect slot. See slot.h. */
#include "odbc/slot.h"

#include "base/clock.h"
#include "base/cond.h"
#include "odbc/link.h"
#include "odbc/source.h"

enum {
    WRITE_WAIT_MS = 200,    /* longer than a transaction takes that only writes */
    CONNECT_WAIT_MS = 1000, /* most connects take less */
};

void tpi_write_slot_init(struct tpi_write_slot *slot) {
    pthread_mutex_init(&slot->lock, NULL);
    (void)tpi_cond_init(&slot->given);
}

void tpi_write_slot_destroy(struct tpi_write_slot *slot) {
    pthread_cond_destroy(&slot->given);
    pthread_mutex_destroy(&slot->lock);
}

void tpi_write_slot_take(struct tpi_link *link) {
    if (!link->driver->polls_for_lock || !link->source || link->has_write_slot) return;
    struct tpi_write_slot *slot = &link->source->write_slot;
    pthread_mutex_lock(&slot->lock);
    link->has_write_slot = !slot->taken;
    if (slot->taken) {
        int64_t until_ms = tpi_clock_mono_ms() + WRITE_WAIT_MS;
        slot->waiting++;
        while (!slot->handed)
            if (!tpi_cond_wait(&slot->given, &slot->lock, until_ms)) break;
        slot->waiting--;
        link->has_write_slot = slot->handed;
        slot->handed = false;
    }
    slot->taken = true;
    pthread_mutex_unlock(&slot->lock);
}

void tpi_write_slot_give(struct tpi_link *link) {
    if (!link->has_write_slot) return;
    struct tpi_write_slot *slot = &link->source->write_slot;
    link->has_write_slot = false;
    pthread_mutex_lock(&slot->lock);
    slot->handed = slot->taken = slot->waiting > 0;
    if (slot->handed) pthread_cond_signal(&slot->given);
    pthread_mutex_unlock(&slot->lock);
}

static struct {
    pthread_once_t once;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t given;
    unsigned long holder; /* its number; 0: nobody */
    unsigned long last;
} connects = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* In the child of a fork too: who connects there is a thread of the parent's. */
static void free_connects(void) {
    (void)pthread_mutex_init(&connects.lock, NULL);
    (void)tpi_cond_init(&connects.given);
    connects.holder = 0;
}

static void init_connects(void) {
    free_connects();
    (void)pthread_atfork(NULL, NULL, free_connects);
}

unsigned long tpi_connect_slot_take(void) {
    pthread_once(&connects.once, init_connects);
    int64_t until_ms = tpi_clock_mono_ms() + CONNECT_WAIT_MS;
    pthread_mutex_lock(&connects.lock);
    while (connects.holder)
        if (!tpi_cond_wait(&connects.given, &connects.lock, until_ms)) break;
    unsigned long number = connects.holder = ++connects.last;
    pthread_mutex_unlock(&connects.lock);
    return number;
}

void tpi_connect_slot_give(unsigned long holder) {
    pthread_mutex_lock(&connects.lock);
    if (connects.holder == holder) {
        connects.holder = 0;
        pthread_cond_signal(&connects.given);
    }
    pthread_mutex_unlock(&connects.lock);
}
