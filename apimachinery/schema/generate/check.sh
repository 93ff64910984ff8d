#!/bin/bash
# Is ../facts.json what the generator writes? Exits 1 and shows the differing lines if not. Needs Go; with --server (and
# --token, --certificate-authority) the part that only a server knows is compared too. Other arguments: see --help.
# The flags are those with which the real components are built, so that what both need is compiled once.
set -euo pipefail
cd "$(dirname "$0")"
CGO_ENABLED=0 GOWORK=off exec go run -trimpath -buildvcs=false -gcflags=all=-dwarf=false . --check "$@"
