"""Writes the descriptors of OR-Tools' service API, which its wheel has no .proto files of, as a FileDescriptorSet."""

import sys

from google.protobuf import descriptor_pb2
from ortools.service.v1 import optimization_pb2


def add(files, file):
    if file.name in {f.name for f in files.file}:
        return
    for dependency in file.dependencies:
        add(files, dependency)
    files.file.add().ParseFromString(file.serialized_pb)


def main():
    files = descriptor_pb2.FileDescriptorSet()
    add(files, optimization_pb2.DESCRIPTOR)
    with open(sys.argv[1], "wb") as out:
        out.write(files.SerializeToString())


main()
