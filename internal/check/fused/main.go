// Command fused fails when the compiler fuses a product and the addition after it into one
// instruction, on an architecture that has one: the result is then not rounded in between, and
// differs from other machines' by its last digit. Go may fuse x*y + z, also across statements and
// inlined calls, but not float64(x*y) + z.
//
//	go run ./internal/check/fused                  # for the platforms below
//	go run ./internal/check/fused riscv64 s390x    # for others
//
// It reads the assembly of every package, not of a program, so that no package is left out.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// modules are the packages looked at: those of every module in go.work.
var modules = []string{"./...", "./cmd/hedge/..."}

// platforms have fused instructions and are in wide use. The compiler fuses nothing elsewhere that it
// does not fuse on arm64.
var platforms = []string{"arm64", "amd64/v3"}

// instruction is a line of the compiler's listing: the source line, then an operation such as FMADDD
// or, on amd64, VFMADD231SD.
var instruction = regexp.MustCompile(`\(([^()]+:\d+)\)\tV?FN?M(?:ADD|SUB)\w*\t`)

func main() {
	if len(os.Args) > 1 {
		platforms = os.Args[1:]
	}
	ok := true
	for _, platform := range platforms {
		places, err := fused(".", platform, modules...)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
			os.Exit(1)
		}
		for _, place := range places {
			fmt.Fprintf(os.Stderr, "%s: a product is fused with an addition on %s; write float64(x*y)\n", place, platform)
			ok = false
		}
	}
	if !ok {
		os.Exit(1)
	}
	fmt.Println("no fused products on", strings.Join(platforms, ", "))
}

// fused lists the source lines of packages, as file:line, that a platform's compiler makes a fused
// instruction of. A platform is an architecture, or that and its level: amd64/v3.
func fused(dir, platform string, packages ...string) ([]string, error) {
	arch, level, leveled := strings.Cut(platform, "/")
	cmd := exec.Command("go", append([]string{"build", "-gcflags=-S"}, packages...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if leveled {
		cmd.Env = append(cmd.Env, "GO"+strings.ToUpper(arch)+"="+level)
	}
	var listing bytes.Buffer
	cmd.Stdout, cmd.Stderr = &listing, &listing
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, complaint(listing.Bytes()))
	}
	return places(&listing)
}

// places reads a listing.
func places(listing io.Reader) ([]string, error) {
	var found []string
	functions := 0
	lines := bufio.NewScanner(listing)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte("\tTEXT\t")) {
			functions++
		} else if m := instruction.FindSubmatch(lines.Bytes()); m != nil {
			found = append(found, string(m[1]))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if functions == 0 {
		return nil, errors.New("the compiler listed no functions")
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// fault is a line of the compiler's that is not of the listing.
var fault = regexp.MustCompile(`^\S+\.go:\d+:\d+: `)

// complaint is what the go command says amid a listing.
func complaint(listing []byte) string {
	var said []string
	for line := range strings.Lines(string(listing)) {
		if fault.MatchString(line) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "")
}
