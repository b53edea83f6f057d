#!/usr/bin/env -S python3 -B
"""Prints the list of parts (SBOM) of the packages in the current folder, as SPDX 2.3: what taskpool was linked with, in which version it
was built, and the packages with their checksums. All parts are libraries of the system but uPlot, which the console has in it.
usage: sbom.py SOURCES"""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import time

# pkg-config's name, the name for people, licence, whose part it is.
PARTS = [("odbc", "unixODBC", "LGPL-2.1-or-later", "library"), ("uuid", "libuuid", "BSD-3-Clause", "library"),
         ("glib-2.0", "GLib", "LGPL-2.1-or-later", "library"), ("popt", "popt", "MIT", "program"), ("json-c", "json-c", "MIT", "program"),
         ("unistring", "libunistring", "LGPL-3.0-or-later OR GPL-2.0-or-later", "program"),
         ("ncursesw", "ncurses", "X11", "program"), ("libical", "libical", "LGPL-2.1-only OR MPL-2.0", "program"),
         ("libmicrohttpd", "libmicrohttpd", "LGPL-2.1-or-later", "program"), ("gnutls", "GnuTLS", "LGPL-2.1-or-later", "program"),
         ("libcrypt", "libxcrypt", "LGPL-2.1-or-later", "program")]


def version_of(name):
    """As pkg-config has it; libunistring has no file there."""
    if name != "unistring":
        return subprocess.run(["pkg-config", "--modversion", name], capture_output=True, text=True, check=True).stdout.strip()
    with open("/usr/include/unistring/version.h" if os.path.exists("/usr/include/unistring/version.h") else "/usr/include/unistring/stdint.h",
              encoding="utf-8") as file:
        found = re.search(r"_LIBUNISTRING_VERSION\s+0x(\w\w)(\w\w)(\w\w)", file.read())
    return ".".join(str(int(part, 16)) for part in found.groups()) if found else "NOASSERTION"


def package(identifier, name, version, licence, **more):
    return {"SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def identifier_of(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def own_packages(version):
    for path in sorted(glob.glob("*.deb") + glob.glob("*.rpm")):
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        yield package(identifier_of(path), path, version, "MIT", packageFileName=path,
                      checksums=[{"algorithm": "SHA256", "checksumValue": digest}])


def uplot(sources):
    """What draws the console's plots, when the program was built with it."""
    try:
        with open(os.path.join(sources, "tools/console/node_modules/uplot/package.json"), encoding="utf-8") as file:
            about = json.load(file)
    except FileNotFoundError:
        return []
    return [package("SPDXRef-uPlot", "uPlot", about["version"], about["license"], comment="in the program taskpool-console")]


def main(sources):
    with open(os.path.join(sources, "include/taskpool.h"), encoding="utf-8") as file:
        version = re.search(r'^#define TP_VERSION\s+"(.*)"', file.read(), re.M).group(1)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    main_id = "SPDXRef-taskpool"
    packages = [package(main_id, "taskpool", version, "MIT")]
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", main_id)]
    for name, title, licence, whose in PARTS:
        packages.append(package(identifier_of(title), title, version_of(name), licence, comment=f"linked by the {whose}"))
        relations.append(relation(main_id, "DYNAMIC_LINK", identifier_of(title)))
    for part in uplot(sources):
        packages.append(part)
        relations.append(relation(main_id, "CONTAINS", part["SPDXID"]))
    for own in own_packages(version):
        packages.append(own)
        relations.append(relation(own["SPDXID"], "GENERATED_FROM", main_id))
    sums = "".join(own.get("checksums", [{}])[0].get("checksumValue", "") for own in packages)
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"taskpool-{version}",
        "documentNamespace": f"https://taskpool.invalid/spdx/{version}-{hashlib.sha256(sums.encode()).hexdigest()[:16]}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), "creators": ["Tool: taskpool-package"]},
        "packages": packages, "relationships": relations}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
