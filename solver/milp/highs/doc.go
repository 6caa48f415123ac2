// Package highs solves mixed-integer linear programs with HiGHS: a [milp.Backend] on the C API of its shared library.
//
// The library is loaded when the program runs, with purego, rather than linked with cgo. HiGHS is in no stable
// distribution's packages, but its Python package has the library ready built; what is loaded at run time can be
// installed afterwards, asks for no C compiler and no headers, and leaves a program that is
// built with CGO_ENABLED=0, and cross-compiled, whole: without the library it runs and [Open] says what to do.
//
// [Install] fetches the library. The package never fetches anything by itself, prints nothing, and writes no
// file but where Install is told to. See README.md for the limits of HiGHS and for what was measured.
package highs
