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
	// GSCIP is SCIP, for mixed-integer programs. It is the default.
	GSCIP Solver = "gscip"
	// HiGHS is for mixed-integer programs. Within OR-Tools it reports no points before the end, and its number of threads
	// cannot be set.
	HiGHS Solver = "highs"
	// CPSAT is for programs whose variables are integer and bounded by ±1e7. Wider bounds of integer variables are cut to
	// that, and continuous variables are treated as integer. Then its points are valid but it proves nothing: what it
	// calls optimal or infeasible is milp.StopOther without a bound.
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

// Config says where a service is and what to ask of it. The zero value is GSCIP with the service of this machine.
type Config struct {
	// Address is the service's address in gRPC's notation: "host:port", "dns:///host:port", "unix:/path". "" means
	// DefaultAddress.
	Address string
	// Solver is the service's solver to use; "" means GSCIP.
	Solver Solver
	// TLS secures the connection, with a client certificate for mutual TLS; nil means no TLS.
	TLS *tls.Config
	// MaxMessage is the largest message sent or received, in bytes; 0 means DefaultMaxMessage. A model takes about 12
	// bytes per coefficient. The service has a limit of its own.
	MaxMessage int
	// KeepAlive is the silence of the service, during a solve, after which the client checks whether it is still there. 0
	// means DefaultKeepAlive, and negative never. Servers other than hedge's may reject less than five minutes.
	KeepAlive time.Duration
}

// Backend is a milp.Backend that uses a service. It is safe for concurrent use. All calls share one connection, which
// is made when it is needed, and again after it was lost.
type Backend struct {
	address string
	secure  bool // by TLS
	solver  Solver
	kind    kind
	limit   int
	line    line
}

// kind is what must be known of a solver.
type kind struct {
	proto mathoptpb.SolverTypeProto
	caps  milp.Caps
	// gaps: it accepts gap tolerances. nodes: it counts tree nodes. steps: it counts iterations.
	gaps, nodes, steps bool
	// whole: it treats continuous variables as integer.
	whole bool
}

// maxCPSAT is the largest value of CP-SAT's variables. It would silently cut wider bounds. So the client cuts them, and
// knows that nothing is proven then.
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

// New returns a backend for the service of c. It does not check that the service exists; see [Backend.Ping]. The error
// is milp.ErrInvalid if c makes no sense. Close the backend when it is no longer needed.
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

// Name implements milp.Backend. It is "ortools-" and the solver's name.
func (b *Backend) Name() string { return "ortools-" + string(b.solver) }

// Caps implements milp.Backend. A server that has only OR-Tools' own API reports no points and no log lines, although
// Caps says so.
func (b *Backend) Caps() milp.Caps { return b.kind.caps }

// Close closes the connection. Running calls fail.
func (b *Backend) Close() error { return b.line.close() }

// Ping asks for the service's health. Nil means that it is ready to solve. The error is milp.ErrUnavailable, or that of
// ctx. A server without the health service counts as ready.
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
