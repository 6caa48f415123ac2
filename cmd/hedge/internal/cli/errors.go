package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// failure marks an error as "the work failed" (status 1) where everything else
// is bad usage or bad input (status 2).
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// failed marks err as a failure of the work; nil stays nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &failure{err}
}

// oneLine joins the lines of an error's text.
func oneLine(err error) string {
	fields := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	const most = 2000
	line := strings.Join(fields, "; ")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + " …"
	}
	return line
}

// flagError says what is wrong with a flag in the words of every other error.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return fmt.Errorf("%s: no such flag, try %s --help", name, cmd.CommandPath())
	case errors.As(err, &missing):
		return fmt.Errorf("--%s: found nothing, expected %s", missing.GetFlag().Name, wanted(missing.GetFlag()))
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s: found %q, expected %s", invalid.GetFlag().Name, invalid.GetValue(),
			wanted(invalid.GetFlag()))
	case errors.As(err, &syntax):
		return fmt.Errorf("found %q, expected --flag or --flag=value, try %s --help", syntax.GetSpecifiedFlag(),
			cmd.CommandPath())
	}
	return err
}

// wanted names what a flag's type takes.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "uint64":
		return "a whole number of at least 0"
	case "int64Slice":
		return "whole numbers with commas between them, such as 20000,200000"
	case "intSlice":
		return "whole numbers with commas between them, such as 1,2"
	case "durationSlice":
		return "durations with commas between them, such as 10ms,1s"
	case "float64":
		return "a number"
	case "duration":
		return "a duration such as 500ms, 10s or 1h30m"
	case "share":
		return "a share from 0% to 100% such as 5%"
	case "bool":
		return "true, false or no value"
	}
	return "a value"
}

// pathError is err without the name of the system call: the path and what is wrong with it.
func pathError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

// fileName is path as errors name it: stdin has a word of its own.
func fileName(path string) string {
	if path == "-" {
		return "stdin"
	}
	return path
}

// openInput opens the file of a flag or argument, "-" being stdin, and returns its name for errors.
func openInput(path string, stdin io.Reader) (io.ReadCloser, string, error) {
	if path == "-" {
		return io.NopCloser(stdin), "stdin", nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, path, pathError(err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s: found a directory, expected a file", path)
	}
	if err != nil {
		_ = file.Close() // opened for reading only
		return nil, path, pathError(err)
	}
	return file, path, nil
}

// outputDirectory makes the directory of a flag and sees that files can be written there, so that
// no work is done in vain. An empty path is a flag not used.
func outputDirectory(flag, path string) error {
	switch path {
	case "":
		return nil
	case "-":
		return fmt.Errorf("%s: found %q, expected a directory", flag, path)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("%s: %w", flag, pathError(err))
	}
	probe, err := os.CreateTemp(path, ".hedge")
	if err != nil {
		return fmt.Errorf("%s: %s: cannot be written to: %w", flag, path, errors.Unwrap(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// outputFile sees that the file of a flag can be written, and leaves it as it was. An empty path is a
// flag not used, "-" is stdout.
func outputFile(flag, path string) error {
	if path == "" || path == "-" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("%s: %w", flag, pathError(err))
	}
	_, before := os.Stat(path)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, pathError(err))
	}
	err = file.Close()
	if errors.Is(before, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
