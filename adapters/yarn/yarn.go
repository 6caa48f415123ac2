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

// ErrOptions is an option out of range.
var ErrOptions = errors.New("yarn: invalid option")

// Options are the options of a [Driver]. URLs and Spool are required, and so is AM.Classpath for gangs. Negative
// numbers and durations are refused.
type Options struct {
	// URLs are the addresses of the ResourceManagers, like http://rm1:8088. The driver finds the active one.
	URLs []string
	// Spool is the folder with the job files and hedge's own files. It is created if it does not exist. All instances
	// share it.
	Spool string
	// Instance is the tag of hedge's applications. It distinguishes several hedges of one cluster. It has lower case
	// letters, digits and hyphens; default "hedge".
	Instance string
	// User is the user on whose behalf calls are made with simple authentication; "" names none.
	User string
	// Client makes the calls, with authentication if needed; nil is a client of the driver's own. Its Timeout is not used.
	Client *http.Client
	// Timeout limits each call, and the wait for another instance's lock of the spool; default 10 s.
	Timeout time.Duration
	// AM says how the ApplicationMasters of gangs run.
	AM AM
	// HeadroomMB and HeadroomVCores are what each node keeps free for ApplicationMasters, in MiB of memory and in vcores.
	// The default, 0, is right if ApplicationMasters have a node label of their own.
	HeadroomMB, HeadroomVCores int
	// Pools are the node labels whose nodes take whole applications, and no gangs.
	Pools []string
	// GangTimeout is how long an ApplicationMaster waits until its whole gang runs; default 1 min.
	GangTimeout time.Duration
	// OnError, if not nil, is called by Observe if the ResourceManager's answer about an application or a node makes no
	// sense. The error names its id. It is called once while the answer stays the same. The job's user is told, too. The
	// application or node stays as it was before, and the node takes no new tasks.
	OnError func(error)
	// Now is the clock for submissions without a time and for starts; nil is the system's.
	Now func() time.Time
}

// AM says how ApplicationMasters of gangs run.
type AM struct {
	// Classpath is the class path of the Java program on every node: its jar, Hadoop's jars and Hadoop's configuration.
	Classpath string
	// Archive is the path, on every node, of an archive of the program's classes. With it, the program starts in two
	// thirds of the time; am/README.md says how to make it. "" is none. A Java machine that finds no archive, or one made
	// for another machine, starts without it.
	Archive string
	// Java is the command; default "java" with a heap of 64 MiB.
	Java string
	// MemoryMB and VCores are the resources of its container, by default 256 and 1.
	MemoryMB, VCores int
	// Label is the node label on which it runs; "" is the gang's own.
	Label string
}

// command is the shell command that runs an ApplicationMaster.
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
			return fmt.Errorf("%w: URL %q, expected one like http://rm1:8088", ErrOptions, text)
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

// Driver is a scheduler's connection to YARN. Start, Stop and Explain are safe for concurrent use for different jobs
// while Observe does not run. Otherwise a Driver is for one goroutine at a time.
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

// New makes a driver, and the spool's folders if they are missing. It does not call YARN yet. The error is
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

// Close closes idle connections, unless [Options].Client is set. No call may be under way.
func (d *Driver) Close() {
	if d.opt.Client == nil {
		d.rm.http.CloseIdleConnections()
	}
}
