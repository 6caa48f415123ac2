//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library has the functions of HiGHS' C API in use, each under its C name. HighsInt is int32: libraries with 64-bit
// indices are refused. Slices are passed as pointers to their first element. HiGHS keeps none of them.
type library struct {
	version   func() string
	sizeOfInt func(highs uintptr) int32
	create    func() uintptr
	destroy   func(highs uintptr)
	setBool   func(highs uintptr, option string, value int32) int32
	setInt    func(highs uintptr, option string, value int32) int32
	setDouble func(highs uintptr, option string, value float64) int32
	setString func(highs uintptr, option, value string) int32
	passMip   func(highs uintptr, cols, rows, entries, format, sense int32, offset float64, cost, lower, upper, rowLower,
		rowUpper []float64, start, index []int32, value []float64, integrality []int32) int32
	passLp func(highs uintptr, cols, rows, entries, format, sense int32, offset float64, cost, lower, upper, rowLower,
		rowUpper []float64, start, index []int32, value []float64) int32
	setSparse   func(highs uintptr, entries int32, index []int32, value []float64) int32
	setCallback func(highs, function, data uintptr) int32
	start       func(highs uintptr, kind int32) int32
	run         func(highs uintptr) int32
	modelStatus func(highs uintptr) int32
	infoInt     func(highs uintptr, name string, value *int32) int32
	infoInt64   func(highs uintptr, name string, value *int64) int32
	infoDouble  func(highs uintptr, name string, value *float64) int32
	solution    func(highs uintptr, value, dual, rowValue, rowDual []float64) int32
	dataOut     func(out unsafe.Pointer, name string) unsafe.Pointer
}

type symbol struct {
	name     string
	function any // destination: a pointer to a field of library
}

func (l *library) symbols() []symbol {
	return []symbol{
		{"Highs_version", &l.version},
		{"Highs_getSizeofHighsInt", &l.sizeOfInt},
		{"Highs_create", &l.create},
		{"Highs_destroy", &l.destroy},
		{"Highs_setBoolOptionValue", &l.setBool},
		{"Highs_setIntOptionValue", &l.setInt},
		{"Highs_setDoubleOptionValue", &l.setDouble},
		{"Highs_setStringOptionValue", &l.setString},
		{"Highs_passMip", &l.passMip},
		{"Highs_passLp", &l.passLp},
		{"Highs_setSparseSolution", &l.setSparse},
		{"Highs_setCallback", &l.setCallback},
		{"Highs_startCallback", &l.start},
		{"Highs_run", &l.run},
		{"Highs_getModelStatus", &l.modelStatus},
		{"Highs_getIntInfoValue", &l.infoInt},
		{"Highs_getInt64InfoValue", &l.infoInt64},
		{"Highs_getDoubleInfoValue", &l.infoDouble},
		{"Highs_getSolution", &l.solution},
		{"Highs_getCallbackDataOutItem", &l.dataOut},
	}
}

// load opens the first of the files that can be opened. The library stays loaded, since destructors of its threads need
// its code.
func load(files []string) (*library, error) {
	var failed []error
	for _, file := range files {
		handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		return bind(file, handle)
	}
	return nil, unavailable("no library: %w", errors.Join(failed...))
}

func bind(file string, handle uintptr) (*library, error) {
	l := &library{}
	for _, symbol := range l.symbols() {
		address, err := purego.Dlsym(handle, symbol.name)
		if err != nil {
			return nil, unavailable("%s is not a library of HiGHS %s: %w", file, Version, err)
		}
		purego.RegisterFunc(symbol.function, address)
	}
	if err := checkVersion(l.version()); err != nil {
		return nil, unavailable("%s: %w", file, err)
	}
	highs := l.create()
	defer l.destroy(highs)
	if size := l.sizeOfInt(highs); size != 4 {
		return nil, unavailable("%s: built with indices of %d bytes, expected 4", file, size)
	}
	return l, nil
}

// checkVersion accepts Version's minor version and later ones of the same major version.
func checkVersion(found string) error {
	number := func(version string, part int) int {
		parts := strings.SplitN(version, ".", 3)
		if part >= len(parts) {
			return -1
		}
		n, err := strconv.Atoi(parts[part])
		if err != nil {
			return -1
		}
		return n
	}
	if number(found, 0) != number(Version, 0) || number(found, 1) < number(Version, 1) {
		return fmt.Errorf("found HiGHS %q, expected %s or a later one of the same major version", found, Version)
	}
	return nil
}
