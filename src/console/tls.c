/* See tls.h. */
#include "tls.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/messages.h"

#ifdef TASKPOOL_TLS
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

enum { CHAIN_MAX = 10, ERROR_SIZE = 600 };

/* Those before it are kept to the end: a connection may be about to use them. */
struct pair {
    struct pair *before;
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned count;
    gnutls_privkey_t key;
};

static struct pair *_Atomic now;

/* GnuTLS holds both against each other. */
static int read_files(const char *cert_file, const char *key_file, struct pair *pair) {
    gnutls_certificate_credentials_t both = NULL;
    gnutls_x509_crt_t *certs = NULL;
    gnutls_x509_privkey_t key = NULL;
    unsigned count = 0;
    int status = gnutls_certificate_allocate_credentials(&both);

    if (status >= 0)
        status = gnutls_certificate_set_x509_key_file(both, cert_file, key_file, GNUTLS_X509_FMT_PEM);
    if (status >= 0) status = gnutls_certificate_get_x509_key(both, 0, &key);
    if (status >= 0) status = gnutls_certificate_get_x509_crt(both, 0, &certs, &count);
    pair->count = CHAIN_MAX;
    if (status >= 0) {
        unsigned taken = count < CHAIN_MAX ? count : CHAIN_MAX;

        status = gnutls_pcert_import_x509_list(pair->chain, certs, &taken, 0);
        pair->count = status >= 0 ? taken : 0;
    } else {
        pair->count = 0;
    }
    if (status >= 0) status = gnutls_privkey_init(&pair->key);
    if (status >= 0) status = gnutls_privkey_import_x509(pair->key, key, GNUTLS_PRIVKEY_IMPORT_COPY);
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(certs[i]);
    gnutls_free(certs);
    if (key) gnutls_x509_privkey_deinit(key);
    if (both) gnutls_certificate_free_credentials(both);
    return status;
}

static void free_pair(struct pair *pair) {
    for (unsigned i = 0; i < pair->count; i++)
        gnutls_pcert_deinit(&pair->chain[i]);
    if (pair->key) gnutls_privkey_deinit(pair->key);
    free(pair);
}

const char *tls_load(const char *cert_file, const char *key_file) {
    static char error[ERROR_SIZE];
    struct stat about;
    struct pair *pair;
    int status;

    if (stat(key_file, &about) == 0 && (about.st_mode & S_IRWXO)) {
        snprintf(error, sizeof error, "everybody can read or write %s, so it is not used; chmod o= it",
                 key_file);
        return error;
    }
    pair = cli_must(calloc(1, sizeof *pair));
    status = read_files(cert_file, key_file, pair);
    if (status < 0) {
        snprintf(error, sizeof error, "cannot use %s and %s for TLS: %s", cert_file, key_file,
                 gnutls_strerror(status));
        free_pair(pair);
        return error;
    }
    pair->before = atomic_load(&now);
    atomic_store(&now, pair);
    return NULL;
}

static int retrieve(gnutls_session_t session, const gnutls_datum_t *names, int name_count,
                    const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **chain,
                    unsigned *count, gnutls_privkey_t *key) {
    struct pair *pair = atomic_load(&now);

    (void)session, (void)names, (void)name_count, (void)algorithms, (void)algorithm_count;
    *chain = pair->chain;
    *count = pair->count;
    *key = pair->key;
    return 0;
}

void *tls_callback(void) {
    gnutls_certificate_retrieve_function2 *function = retrieve;
    void *address;

    memcpy(&address, &function, sizeof address); /* as the HTTP library takes it */
    return address;
}

void tls_close(void) {
    for (struct pair *pair = atomic_exchange(&now, NULL), *before; pair; pair = before) {
        before = pair->before;
        free_pair(pair);
    }
}

#else

const char *tls_load(const char *cert_file, const char *key_file) {
    (void)cert_file, (void)key_file;
    return "this program was built without GnuTLS; let a proxy in front speak TLS";
}

void *tls_callback(void) {
    return NULL;
}

void tls_close(void) {
}

#endif
