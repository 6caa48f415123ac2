#!/bin/sh
# Writes internal/pb anew. It needs Python 3 with venv, and Go.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q grpcio-tools==1.81.1
GOWORK=off GOBIN="$tmp" go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOWORK=off GOBIN="$tmp" go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
module=github.com/hedgesched/hedge/adapters/live
"$tmp/venv/bin/python" -m grpc_tools.protoc --plugin="$tmp/protoc-gen-go" --plugin="$tmp/protoc-gen-go-grpc" \
  -I proto --go_out="module=$module:." --go-grpc_out="module=$module:." hedge/live/v1/live.proto
