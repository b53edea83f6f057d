/* How a check of the doctor says what it found; see doctor.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ops/doctor.h"

enum { TEXT = 1400 };

static void report(const struct tpi_doctor *doctor, bool ok, const char *remedy, const char *format,
                   va_list values) {
    char text[TEXT];
    vsnprintf(text, sizeof text, format, values);
    tp_finding finding = {.name = doctor->name, .ok = ok, .text = text, .remedy = remedy};
    if (doctor->see) doctor->see(&finding, doctor->arg);
}

void tpi_doctor_good(const struct tpi_doctor *doctor, const char *format, ...) {
    va_list values;
    va_start(values, format);
    report(doctor, true, "", format, values);
    va_end(values);
}

void tpi_doctor_bad(struct tpi_doctor *doctor, const char *remedy, const char *format, ...) {
    va_list values;
    doctor->bad++;
    va_start(values, format);
    report(doctor, false, remedy, format, values);
    va_end(values);
}

tp_status tpi_doctor_answer(struct tpi_doctor *doctor, tp_status status, bool good, const char *text,
                            const char *remedy, const char *format, ...) {
    va_list values;
    if (status != TP_OK) return status;
    if (good) {
        tpi_doctor_good(doctor, "%s", text);
        return TP_OK;
    }
    doctor->bad++;
    va_start(values, format);
    report(doctor, false, remedy, format, values);
    va_end(values);
    return TP_OK;
}

bool tpi_doctor_is_poolers(const char *text) {
    return strcmp(tp_last_error()->sqlstate, "26000") == 0 || strstr(text, "prepared statement");
}

const char *tpi_doctor_pooler_remedy(struct tpi_doctor *doctor) {
    const char *remedy = doctor->a->store.link.driver->pooler_remedy;
    if (doctor->pooler_remedy_given) return "as above";
    doctor->pooler_remedy_given = true;
    return remedy ? remedy : "let the pooler between keep a session for each connection";
}

/* Errors say what is wrong; what to do. What a driver says ends with its codes in brackets. */
void tpi_doctor_error(struct tpi_doctor *doctor) {
    char text[TEXT];
    snprintf(text, sizeof text, "%s", tp_last_error()->text);
    bool poolers = doctor->a && tpi_doctor_is_poolers(text);
    char *codes = strrchr(text, ']');
    char *remedy = NULL;
    for (char *at = codes ? codes : text; (at = strstr(at, "; ")); at += 2)
        remedy = at;
    if (remedy) *remedy = '\0';
    const char *to_do = remedy ? remedy + 2 : "mend what it says and run the doctor again";
    tpi_doctor_bad(doctor, poolers ? tpi_doctor_pooler_remedy(doctor) : to_do, "%s", text);
}
