#!/usr/bin/env bash
# Fetches OpenTelemetry for Python, which the stable release does not have; see unstable.sh. It is
# Python alone, so that it may run on an older one; whether it does is tried out.
set -euo pipefail
umask 022
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=unstable.sh
. "$TP_ROOT/tools/unstable.sh"

usage() {
  cat <<END
usage: tools/fetch_opentelemetry.sh [--help]
Unpacks what examples/python/traced.py needs into \$TP_OPENTELEMETRY (default /var/cache/taskpool/opentelemetry), or into
\$TP_SCRATCH/opentelemetry where that cannot be written. Does nothing when it is there. Exit code 3: the archive cannot be reached from
here; \$TP_SCRATCH/opentelemetry.unreachable says why.
END
}

packages=(python3-opentelemetry-{api,sdk,proto,semantic-conventions}
  python3-opentelemetry-exporter-{http-transport,otlp-common,otlp-proto-common,otlp-proto-http}
  python3-{googleapis-common-protos,protobuf,requests,urllib3,idna,certifi,charset-normalizer,typing-extensions})
homes=("${TP_OPENTELEMETRY:-/var/cache/taskpool/opentelemetry}" "$TP_SCRATCH/opentelemetry")
exporter=usr/lib/python3/dist-packages/opentelemetry/exporter/otlp/proto/http

cannot() {
  complain "NOT THERE: OpenTelemetry for Python: $1"
  complain "its test will be skipped"
  printf '%s\n' "$1" >"$TP_SCRATCH/opentelemetry.unreachable"
  exit 3
}

# Python itself, on which all of them depend, is the machine's.
fetch() {
  (cd "$apt/cache/archives" && own_apt download "${packages[@]}") || cannot "the packages cannot be fetched: $(complaint)"
}

unpack() {
  local package
  for package in "$apt"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$apt/root"
  done
  PYTHONPATH=$apt/root/usr/lib/python3/dist-packages python3 -B -c 'import opentelemetry.exporter.otlp.proto.http.trace_exporter' 2>>"$apt/log" ||
    cannot "it does not run on this Python: $(tail -n 1 "$apt/log")"
}

case ${1:-} in
  "") ;;
  --help | -h) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac
mkdir -p "$TP_SCRATCH"
rm -f "$TP_SCRATCH/opentelemetry.unreachable"
for home in "${homes[@]}"; do
  if [ -e "$home/$exporter" ]; then
    say "OpenTelemetry: in $home already"
    exit
  fi
done
place OpenTelemetry $exporter "${homes[@]}"
