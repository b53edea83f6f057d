"""Tables in Markdown, and how their cells are written. Knows nothing of what is measured."""
TITLES = {"postgres": "PostgreSQL", "mariadb": "MariaDB", "mysql": "MySQL", "sqlite": "SQLite", "oramode": "MariaDB, Oracle's SQL"}


def table(head, rows, text_columns=1):
    lines = ["| " + " | ".join(head) + " |",
             "|" + "|".join(" --- " if i < text_columns else " ---: " for i in range(len(head))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def whole(value, missing=""):
    """A rate, or a count: 12,345."""
    return missing if value is None else f"{value:,.0f}"


def number(value, digits=2, missing=""):
    return missing if value is None else f"{value:.{digits}f}"
