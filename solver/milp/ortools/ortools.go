package ortools

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools/internal/pb/mathoptpb"
)

// Solver is one of the service's solvers.
type Solver string

// The solvers.
const (
	// GSCIP is SCIP, for mixed-integer programs. It is the zero Config's.
	GSCIP Solver = "gscip"
	// HiGHS is for mixed-integer programs. Within OR-Tools it tells of no points before the end, and its number
	// of threads cannot be set.
	HiGHS Solver = "highs"
	// CPSAT is for programs whose variables are integer and bounded by ±1e7. Wider bounds of integer variables are cut to
	// that, and continuous variables taken for integer: then its points are good, but it proves nothing, and what it calls
	// optimal or infeasible is milp.StopOther without a bound.
	CPSAT Solver = "cp-sat"
	// GLOP is a simplex method.
	GLOP Solver = "glop"
	// PDLP is a first-order method for large linear programs. Its points are approximate.
	PDLP Solver = "pdlp"
)

// Defaults of a [Config].
const (
	DefaultAddress    = "127.0.0.1:50051"
	DefaultMaxMessage = 256 << 20
	DefaultKeepAlive  = 30 * time.Second
)

// Config is where a service is and what is asked of it. The zero value is GSCIP, by the service of this machine.
type Config struct {
	// Address is the service's, as gRPC names it: "host:port", "dns:///host:port", "unix:/path". ""
	// means DefaultAddress.
	Address string
	// Solver is which of the service's solvers is to solve; "" means GSCIP.
	Solver Solver
	// TLS is how the connection is secured, for mutual TLS with a certificate of the client's; nil means not at all.
	TLS *tls.Config
	// MaxMessage is the largest message sent or received, in bytes; 0 means DefaultMaxMessage. A model takes some 12 bytes
	// for each coefficient. The service has a limit of its own.
	MaxMessage int
	// KeepAlive is after how much silence of the service, while it solves, the client asks whether it is still there;
	// 0 means DefaultKeepAlive, and negative never. Servers other than hedge's may take offence at less than
	// five minutes.
	KeepAlive time.Duration
}

// Backend is a milp.Backend that has a service solve. It is safe for concurrent use, and all its calls share one
// connection, which is made when it is needed, and again when it was lost.
type Backend struct {
	address string
	secure  bool // by TLS
	solver  Solver
	kind    kind
	limit   int
	line    line
}

// kind is what there is to know of one of the solvers.
type kind struct {
	proto mathoptpb.SolverTypeProto
	caps  milp.Caps
	// gaps: it takes gap tolerances. nodes, steps: it counts the tree's nodes, and its iterations.
	gaps, nodes, steps bool
	// whole: it takes continuous variables for integer.
	whole bool
}

// maxCPSAT is how large CP-SAT's variables may get. It would cut wider bounds down to this without saying so, so that
// the client does, and knows that nothing is proven then.
const maxCPSAT = 1e7

func kindOf(s Solver) (kind, bool) {
	switch s {
	case GSCIP:
		return kind{proto: mathoptpb.SolverTypeProto_SOLVER_TYPE_GSCIP, gaps: true, nodes: true, steps: true, caps: milp.Caps{
			Integer: true, Start: true, Incumbents: true, Nodes: true, Threads: true, Seed: true, Log: true}}, true
	case HiGHS:
		return kind{proto: mathoptpb.SolverTypeProto_SOLVER_TYPE_HIGHS, gaps: true, nodes: true, steps: true, caps: milp.Caps{
			Integer: true, Start: true, Nodes: true, Seed: true, Log: true, Forgets: true}}, true
	case CPSAT:
		return kind{proto: mathoptpb.SolverTypeProto_SOLVER_TYPE_CP_SAT, gaps: true, whole: true, caps: milp.Caps{
			Integer: true, Start: true, Incumbents: true, Threads: true, Seed: true, Log: true,
			Bounded: true, MaxInteger: maxCPSAT}}, true
	case GLOP:
		return kind{proto: mathoptpb.SolverTypeProto_SOLVER_TYPE_GLOP, steps: true,
			caps: milp.Caps{Seed: true, Log: true, Forgets: true}}, true
	case PDLP:
		return kind{proto: mathoptpb.SolverTypeProto_SOLVER_TYPE_PDLP, steps: true,
			caps: milp.Caps{Threads: true, Log: true, Forgets: true}}, true
	}
	return kind{}, false
}

// New returns a backend for the service of c. It does not look whether there is one: see [Backend.Ping]. The error, for
// a Config that makes no sense, is milp.ErrInvalid. Close the backend when it is no longer needed.
func New(c Config) (*Backend, error) {
	if c.Address == "" {
		c.Address = DefaultAddress
	}
	if c.Solver == "" {
		c.Solver = GSCIP
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = DefaultMaxMessage
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = DefaultKeepAlive
	}
	k, ok := kindOf(c.Solver)
	if !ok {
		return nil, fmt.Errorf("%w: solver: found %q, expected %q, %q, %q, %q or %q", milp.ErrInvalid, c.Solver, GSCIP, HiGHS,
			CPSAT, GLOP, PDLP)
	}
	if c.MaxMessage < 0 {
		return nil, fmt.Errorf("%w: largest message: found %d bytes", milp.ErrInvalid, c.MaxMessage)
	}
	b := &Backend{address: c.Address, secure: c.TLS != nil, solver: c.Solver, kind: k, limit: c.MaxMessage}
	b.line.dial = func() (*grpc.ClientConn, error) { return grpc.NewClient(c.Address, dialOptions(c)...) }
	d, err := b.line.take()
	if err != nil {
		return nil, fmt.Errorf("%w: address %q: %w", milp.ErrInvalid, c.Address, err)
	}
	b.line.give(d)
	return b, nil
}

func dialOptions(c Config) []grpc.DialOption {
	security := insecure.NewCredentials()
	if c.TLS != nil {
		security = credentials.NewTLS(c.TLS)
	}
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(c.MaxMessage), grpc.MaxCallRecvMsgSize(c.MaxMessage)),
		grpc.WithDisableServiceConfig(),
	}
	if c.KeepAlive > 0 {
		opts = append(opts,
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: c.KeepAlive, Timeout: 10 * time.Second}))
	}
	return opts
}

// Name implements milp.Backend: it is "ortools-" and the solver.
func (b *Backend) Name() string { return "ortools-" + string(b.solver) }

// Caps implements milp.Backend. A server that has only OR-Tools' own API tells of no points and no log lines, though
// they are in Caps.
func (b *Backend) Caps() milp.Caps { return b.kind.caps }

// Close ends the connection; calls that go on fail.
func (b *Backend) Close() error { return b.line.close() }

// Ping asks the service for its health: nil means that it is ready to solve. The error is milp.ErrUnavailable, or that
// of ctx. A server without the health service counts as ready.
func (b *Backend) Ping(ctx context.Context) error {
	d, err := b.line.take()
	if err != nil {
		return fmt.Errorf("%w: %w", milp.ErrUnavailable, err)
	}
	defer b.line.give(d)
	r, err := healthpb.NewHealthClient(d.conn).Check(ctx, &healthpb.HealthCheckRequest{})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if lacks(err) {
		return nil
	}
	if err != nil {
		return b.failure(err, false)
	}
	if s := r.GetStatus(); s != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("%w: the service at %s says %s", milp.ErrUnavailable, b.address, s)
	}
	return nil
}
