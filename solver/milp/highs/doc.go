// Package highs solves mixed-integer linear programs with HiGHS. It is a [milp.Backend] that uses the C API of HiGHS'
// shared library.
//
// The library is loaded at run time with purego, instead of being linked with cgo. No stable distribution has a package
// of HiGHS, but HiGHS' Python package contains a compiled library. A library that is loaded at run time can be
// installed later and needs no C compiler and no headers. The program can be built with CGO_ENABLED=0 and
// cross-compiled. Without the library it runs, and [Open] says what to do.
//
// [Install] downloads the library. The package never downloads anything by itself, prints nothing, and writes no file
// except where Install is told to. README.md describes the limits of HiGHS and has measurements.
package highs
