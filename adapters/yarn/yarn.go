package yarn

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// ErrOptions is the sentinel of options out of range.
var ErrOptions = errors.New("yarn: invalid option")

// Options are how a [Driver] behaves. URLs, Spool and, for gangs, AM.Classpath must be there. Negative numbers and
// durations are refused.
type Options struct {
	// URLs are where the ResourceManagers answer, as http://rm1:8088; the one that is active is found.
	URLs []string
	// Spool is the folder with the job files and hedge's own; it is made if it is not there. All instances share it.
	Spool string
	// Instance tells the applications of several hedges of one cluster apart: it is their tag. Lower case letters, digits
	// and hyphens; default "hedge".
	Instance string
	// User is whom the ResourceManager is told to act for with simple authentication; "" tells nothing.
	User string
	// Client makes the calls, with authentication where it is needed; nil is one of the driver's own. Its Timeout is not
	// used.
	Client *http.Client
	// Timeout is how long a call may take, and how long another instance's lock of the spool is waited for, default 10 s.
	Timeout time.Duration
	// AM says how the ApplicationMaster of gangs runs.
	AM AM
	// Headroom is what each node keeps free of tasks, for ApplicationMasters: in MiB of memory and in vcores. Default 0,
	// as is right where ApplicationMasters have a label of their own.
	HeadroomMB, HeadroomVCores int
	// Pools are the node labels whose nodes take whole applications, and no gangs.
	Pools []string
	// GangTimeout is how long an ApplicationMaster waits for all of its gang to run, default 1 min.
	GangTimeout time.Duration
	// Told, if not nil, is told by Observe of an application or a node of which the ResourceManager says what makes no
	// sense, by its id; once, as long as it says the same. The job's user is told, too. The application counts as it was
	// before, and so does the node, which takes nothing new.
	Told func(error)
	// Now is the clock by which submissions without a time and starts are dated; nil is the system's.
	Now func() time.Time
}

// AM is how ApplicationMasters of gangs run.
type AM struct {
	// Classpath is that of the Java program on every node: its jar, Hadoop's jars and Hadoop's configuration.
	Classpath string
	// Archive is the path on every node of an archive of the program's classes, with which it starts in two thirds of the
	// time; am/README.md says how it is made. "" is none, and a Java machine that the archive is not for, or that finds
	// none, starts without.
	Archive string
	// Java is the command, default "java" with a heap of 64 MiB.
	Java string
	// MemoryMB and VCores are what its container asks for, by default 256 and 1.
	MemoryMB, VCores int
	// Label is the node label where it runs; "" is the gang's own.
	Label string
}

// command is the shell's that runs an ApplicationMaster.
func (a *AM) command() string {
	java := a.Java
	if a.Archive != "" {
		java += " -XX:SharedArchiveFile=" + a.Archive
	}
	return java + ` -cp "$CLASSPATH" io.github.hedgesched.yarn.GangMaster 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr`
}

var (
	instanceName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	archivePath  = regexp.MustCompile(`^/[0-9A-Za-z._+@%,=:/-]*$`) // a shell leaves it as it is
	labelName    = regexp.MustCompile(`^[0-9a-zA-Z][0-9a-zA-Z_-]{0,254}$`)
)

func (o *Options) withDefaults() error {
	if len(o.URLs) == 0 {
		return fmt.Errorf("%w: no URLs of ResourceManagers", ErrOptions)
	}
	for _, text := range o.URLs {
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("%w: URL %q, expected one as http://rm1:8088", ErrOptions, text)
		}
	}
	if o.Instance == "" {
		o.Instance = "hedge"
	}
	if !instanceName.MatchString(o.Instance) {
		return fmt.Errorf("%w: Instance %q, expected at most 40 lower case letters, digits and hyphens", ErrOptions,
			o.Instance)
	}
	for _, label := range append([]string{o.AM.Label}, o.Pools...) {
		if label != "" && !labelName.MatchString(label) {
			return fmt.Errorf("%w: node label %q, expected letters, digits, hyphens and underscores", ErrOptions, label)
		}
	}
	if a := o.AM.Archive; a != "" && !archivePath.MatchString(a) {
		return fmt.Errorf("%w: AM.Archive %q, expected an absolute path of letters, digits and ._+@%%,=:-", ErrOptions, a)
	}
	if o.HeadroomMB < 0 || o.HeadroomVCores < 0 || o.AM.MemoryMB < 0 || o.AM.VCores < 0 {
		return fmt.Errorf("%w: negative memory or vcores", ErrOptions)
	}
	if o.Timeout < 0 || o.GangTimeout < 0 {
		return fmt.Errorf("%w: Timeout of %v, GangTimeout of %v, expected none below 0", ErrOptions, o.Timeout, o.GangTimeout)
	}
	o.Timeout, o.GangTimeout = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.GangTimeout, time.Minute)
	if o.AM.Java == "" {
		o.AM.Java = "java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -XX:+ExitOnOutOfMemoryError"
	}
	if o.AM.MemoryMB == 0 {
		o.AM.MemoryMB = 256
	}
	if o.AM.VCores == 0 {
		o.AM.VCores = 1
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o.absolute()
}

func (o *Options) absolute() error {
	if o.Spool == "" {
		return fmt.Errorf("%w: no Spool", ErrOptions)
	}
	path, err := filepath.Abs(o.Spool)
	if err != nil {
		return fmt.Errorf("%w: Spool %q: %w", ErrOptions, o.Spool, err)
	}
	o.Spool = path
	return nil
}

// Driver is a scheduler's connection to YARN. Start, Stop and Explain are safe for concurrent use, for different jobs,
// while Observe is not under way; otherwise it is for one goroutine at a time.
type Driver struct {
	opt     Options
	rm      *client
	spool   *spool
	state   *state
	packers packers
}

var (
	_ adapters.Driver    = (*Driver)(nil)
	_ adapters.Explainer = (*Driver)(nil)
)

// New makes a driver, and the spool's folders where they are missing. YARN is not called yet. The error is
// [ErrOptions], or the file system's.
func New(o Options) (*Driver, error) {
	if err := o.withDefaults(); err != nil {
		return nil, err
	}
	s, err := openSpool(o.Spool, o.Timeout)
	if err != nil {
		return nil, err
	}
	return &Driver{opt: o, rm: newClient(&o), spool: s, state: newState()}, nil
}

// Close ends the connections that wait for calls, unless they are those of [Options].Client. No call may be under way.
func (d *Driver) Close() {
	if d.opt.Client == nil {
		d.rm.http.CloseIdleConnections()
	}
}
