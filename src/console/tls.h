/* The certificate and the key for TLS, which can be read anew while connections are open. Must not know HTTP.
 */
#ifndef CONSOLE_TLS_H
#define CONSOLE_TLS_H

#include <stdbool.h>

/* TLS 1.2 and 1.3, in the order of GnuTLS. */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

/* Reads both files, in PEM; the certificate may be followed by those of who signed it. Called again it is for
 * new connections. NULL, or what is wrong, which lives until the next call; then what was read before stays.
 * Not from two threads at a time. */
const char *tls_load(const char *cert_file, const char *key_file);
/* What GnuTLS calls for the certificate of a new connection: a gnutls_certificate_retrieve_function2. NULL:
 * this program was built without GnuTLS. */
void *tls_callback(void);
/* No connection may be open any more. */
void tls_close(void);

#endif
