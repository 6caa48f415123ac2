#!/bin/sh
# Writes internal/pb and the service's solver_pb2.py anew. It needs Python 3.11 or later with venv, and Go.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q -r service/requirements.txt grpcio-tools==1.81.1
"$tmp/venv/bin/python" proto/descriptors.py "$tmp/ortools.pb"
GOWORK=off GOBIN="$tmp" go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOWORK=off GOBIN="$tmp" go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2

module=github.com/hedgesched/hedge/solver/milp/ortools
api=ortools/service/v1
options=module=$module,M$api/optimization.proto=$module/internal/pb/optimizationpb
files=
for f in sparse_containers model solution model_parameters parameters result solver_resources; do
  options=$options,M$api/mathopt/$f.proto=$module/internal/pb/mathoptpb
  files="$files $api/mathopt/$f.proto"
done
rm -rf internal/pb service/hedge
"$tmp/venv/bin/python" -m grpc_tools.protoc --plugin="$tmp/protoc-gen-go" --plugin="$tmp/protoc-gen-go-grpc" \
  --descriptor_set_in="$tmp/ortools.pb" -I proto --python_out=service \
  hedge/solver/v1/solver.proto
"$tmp/venv/bin/python" -m grpc_tools.protoc --plugin="$tmp/protoc-gen-go" --plugin="$tmp/protoc-gen-go-grpc" \
  --descriptor_set_in="$tmp/ortools.pb" -I proto --go_out="$options:." --go-grpc_out="$options:." \
  $files $api/optimization.proto hedge/solver/v1/solver.proto
