package trace

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// WaitUnknown is a Job's Wait when the log does not say.
const WaitUnknown = time.Duration(-1)

// The formats' names.
const (
	SWF        = "swf"
	Eagle      = "eagle"
	GoogleJobs = "google-jobs"
	Simple     = "simple"
	JobList    = "joblist"
	HedgeCSV   = "hedge-csv"
	HedgeJSONL = "hedge-jsonl"
	// Those of jobs with stages.
	Alibaba2017 = "alibaba-2017"
	Alibaba2018 = "alibaba-2018"
	SparkTPCH   = "spark-tpch"
	WfFormat    = "wfformat"
	// Those of jobs on GPUs.
	Chronus = "chronus"
	Helios  = "helios"
	Hydra   = "hydra"
)

// Formats returns the names of the formats that can be read.
func Formats() []string {
	return []string{SWF, Eagle, GoogleJobs, Simple, JobList, HedgeCSV, HedgeJSONL, Alibaba2017, Alibaba2018,
		SparkTPCH, WfFormat, Chronus, Helios, Hydra}
}

// Options say what Open cannot or should not find out itself.
type Options struct {
	// Format is one of Formats; empty means recognised from name and content.
	Format string
	// Meta is the table of attributes of a log in the Eagle format. Empty means
	// X.meta.csv or X.meta.csv.gz beside X.tr or X.tr.gz, where there is one.
	Meta string
	// Strict refuses a log at its first bad record, and one with more columns than its format has.
	Strict bool
	// MaxBad is the share of bad records, above 0 and at most 1, up to which a log is read without them; 0 means 0.05,
	// negative none. A log with at most 100 bad records is read whatever their share is, unless no job is left.
	MaxBad float64
}

// Header is what a log says of itself; zero where it says nothing.
type Header struct {
	// Computer names the machine.
	Computer string
	// UnixStart is the log's origin, in seconds since 1970.
	UnixStart int64
	// MaxNodes and MaxProcs are the machine's size.
	MaxNodes, MaxProcs int
}

// Stream is a log being read. It is a Reader, not safe for concurrent use.
//
// Every job that it returns has an id of its own, a positive runtime and at least one task, and comes after those that
// its After names.
// After an error it returns that error for ever.
type Stream struct {
	name, format string
	parser       parser
	job          Job // the one being read
	policy       *policy
	err          error
	closers      []io.Closer
}

// parser reads one format.
type parser interface {
	// next fills in job, zero but for its Line, or says why the record is
	// none. An error that is a *ParseError is about this record alone, unless
	// it is fatal: the policy then asks for the next. It returns io.EOF after the last.
	next(job *Job) (skip string, err error)
	header() *Header
	// at returns the current line.
	at() int
}

// Read returns the next job in file order, or io.EOF after the last. Bad records are left out and counted; a log with
// too many of them gives a *BadLogError in place of io.EOF, since only its end tells their share. Under Options.Strict
// the first gives a *ParseError.
func (s *Stream) Read() (Job, error) {
	for s.err == nil {
		s.job = Job{}
		skip, err := s.parser.next(&s.job)
		s.err = s.policy.record(skip, err)
		if err == nil && skip == "" {
			s.job.Line = s.parser.at()
			return s.job, nil
		}
	}
	return Job{}, s.err
}

// Header returns what the log says of itself, complete after the first Read.
func (s *Stream) Header() Header {
	if h := s.parser.header(); h != nil {
		return *h
	}
	return Header{}
}

// Format returns the name of the log's format.
func (s *Stream) Format() string { return s.format }

// Name returns the log's name as given.
func (s *Stream) Name() string { return s.name }

// Close closes what Open opened.
func (s *Stream) Close() error {
	if s.err == nil {
		s.err = fs.ErrClosed
	}
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// Open opens a log. Nil options are the zero ones. The caller closes the Stream.
func Open(path string, opts *Options) (*Stream, error) {
	if opts == nil {
		opts = &Options{}
	}
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	closers := []io.Closer{f}
	fail := func(err error) (*Stream, error) {
		for _, c := range closers {
			_ = c.Close() // opened for reading only
		}
		return nil, err
	}
	in, format, err := recognise(f, path, opts.Format)
	if err != nil {
		return fail(err)
	}
	var meta io.Reader
	metaName := opts.Meta
	if format == Eagle {
		if metaName == "" {
			metaName = beside(path)
		}
		if metaName != "" {
			m, err := openFile(metaName)
			if err != nil {
				return fail(err)
			}
			closers = append(closers, m)
			meta = m
		}
	}
	s, err := newStream(in, path, format, meta, metaName, opts)
	if err != nil {
		return fail(err)
	}
	s.closers = closers
	return s, nil
}

// openFile opens what is no directory.
func openFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, fmt.Errorf("trace: %s: %w", path, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("found a directory, expected a file")
	}
	if err != nil {
		_ = f.Close() // opened for reading only
		return nil, fmt.Errorf("trace: %s: %w", path, err)
	}
	return f, nil
}

// NewReader reads a log from r, which may be gzip. The name is for errors and, with an empty
// Options.Format, for recognising one. Meta is the table of attributes of a log in
// the Eagle format, or nil; Options.Meta then is its name. Nil options are the zero ones.
func NewReader(r io.Reader, name string, meta io.Reader, opts *Options) (*Stream, error) {
	if opts == nil {
		opts = &Options{}
	}
	in, format, err := recognise(r, name, opts.Format)
	if err != nil {
		return nil, err
	}
	return newStream(in, name, format, meta, cmp.Or(opts.Meta, metaOf(name)), opts)
}

// metaOf names the table of attributes that belongs to a log in the Eagle format.
func metaOf(name string) string {
	name = strings.TrimSuffix(name, ".gz")
	return strings.TrimSuffix(name, ".tr") + ".meta.csv"
}

// beside finds the table of attributes that belongs to a log, or "".
func beside(path string) string {
	if !strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".tr") {
		return ""
	}
	for _, end := range []string{"", ".gz"} {
		if info, err := os.Stat(metaOf(path) + end); err == nil && info.Mode().IsRegular() {
			return metaOf(path) + end
		}
	}
	return ""
}

// newStream makes a stream of a recognised format.
func newStream(in *bufio.Reader, name, format string, meta io.Reader, metaName string, opts *Options) (*Stream, error) {
	pol, err := newPolicy(opts)
	if err != nil {
		return nil, err
	}
	l := lines{file: name, r: in, policy: pol}
	var table *lines
	if format == Eagle && meta != nil {
		b, err := unzip(meta, metaName)
		if err != nil {
			return nil, err
		}
		table = &lines{file: metaName, r: b, policy: pol}
	}
	p, err := newParser(format, l, table)
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	if err != nil {
		return nil, err
	}
	return &Stream{name: name, format: format, parser: p, policy: pol}, nil
}

// newParser makes the parser of a format.
func newParser(format string, l lines, meta *lines) (parser, error) {
	switch format {
	case SWF:
		return newSWF(l), nil
	case Eagle:
		return newEagle(l, meta)
	case GoogleJobs:
		return newGoogleJobs(l)
	case Simple:
		return newSimple(l)
	case JobList:
		return newJobList(l)
	case HedgeJSONL:
		return newHedgeJSONL(l), nil
	case Alibaba2017:
		return newAlibaba2017(l)
	case Alibaba2018:
		return newAlibaba2018(l)
	case SparkTPCH:
		return newSparkTPCH(l), nil
	case WfFormat:
		return newWfFormat(l), nil
	case Chronus:
		return newChronus(l)
	case Helios:
		return newHelios(l)
	case Hydra:
		return newHydra(l)
	case HedgeCSV:
		return newHedgeCSV(l)
	}
	return nil, fmt.Errorf("%w: %q, known: %s", ErrUnknownFormat, format, strings.Join(Formats(), ", "))
}
