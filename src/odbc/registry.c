/* Which driver profiles there are, which of them a connection gets, and what class its errors are of. The
 * only file under src/odbc that names them; must not know what is in them. Read next: dialects/drivers/any.c.
 */
#include "odbc/driver.h"

#include <string.h>
#include <strings.h>

extern const struct tpi_driver tpi_driver_psqlodbc;
extern const struct tpi_driver tpi_driver_maodbc;
extern const struct tpi_driver tpi_driver_maodbc_mysql;
extern const struct tpi_driver tpi_driver_myodbc;
extern const struct tpi_driver tpi_driver_myodbc_mariadb;
extern const struct tpi_driver tpi_driver_sqliteodbc;
extern const struct tpi_driver tpi_driver_sqora;
extern const struct tpi_driver tpi_driver_any;

/* Of one driver, those with a server come before the one for any. */
static const struct tpi_driver *const drivers[] = {
    &tpi_driver_psqlodbc, &tpi_driver_maodbc,     &tpi_driver_maodbc_mysql, &tpi_driver_myodbc_mariadb,
    &tpi_driver_myodbc,   &tpi_driver_sqliteodbc, &tpi_driver_sqora,        &tpi_driver_any};

static const struct tpi_class_info classes[] = {
#define CLASS(id, status, text, hint) {status, text, hint},
    TPI_CLASS_LIST(CLASS)
#undef CLASS
};

const struct tpi_driver *tpi_driver_at(size_t i) {
    return i < sizeof drivers / sizeof drivers[0] ? drivers[i] : NULL;
}

static bool is_module_of(const struct tpi_driver *driver, const char *module) {
    for (const char *const *start = driver->modules; *start; start++)
        if (strncasecmp(*start, module, strlen(*start)) == 0) return true;
    return false;
}

const struct tpi_driver *tpi_driver_for_server(const char *module, const char *dbms_name,
                                               const char *dbms_version) {
    const struct tpi_driver *driver;
    for (size_t i = 0; (driver = tpi_driver_at(i)); i++) {
        const char *server = dbms_name ? driver->server : NULL;
        bool reaches = !server || strstr(dbms_name, server) || strstr(dbms_version, server);
        if (reaches && is_module_of(driver, module)) return driver;
    }
    return &tpi_driver_any;
}

const struct tpi_driver *tpi_driver_for_module(const char *module) {
    return tpi_driver_for_server(module, NULL, NULL);
}

static bool fits(const struct tpi_rule *rule, const char *state, int32_t native, const char *text) {
    if (rule->state && strncmp(rule->state, state, strlen(rule->state)) != 0) return false;
    int32_t end = rule->native_end ? rule->native_end : rule->native;
    if (rule->native && (native < rule->native || native > end)) return false;
    return !rule->text || strstr(text, rule->text) != NULL;
}

enum tpi_class tpi_driver_classify(const struct tpi_driver *driver, const char *state, int32_t native,
                                   const char *text) {
    for (size_t i = 0; i < driver->rule_count; i++)
        if (fits(&driver->rules[i], state, native, text)) return driver->rules[i].class;
    return driver == &tpi_driver_any ? TPI_CLASS_OTHER
                                     : tpi_driver_classify(&tpi_driver_any, state, native, text);
}

const struct tpi_class_info *tpi_class_info(enum tpi_class class) {
    return &classes[class];
}
