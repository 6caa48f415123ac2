package live

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hedgesched/hedge/adapters/live/internal/pb"
)

// Job is a job to be run.
type Job struct {
	// Name is unique among all jobs of the fleet.
	Name string
	// Tasks is 1 or more; each runs Command, with its index in HEDGE_TASK if the executor is of package process.
	Tasks int
	// Estimate is of one task, as far as the system goes by it; Long is the job's class.
	Estimate time.Duration
	Long     bool
	// After is the name of the job whose next phase this is, submitted before: it starts when that is done.
	After   string
	Command Command
}

// Status is how far a job is. Times are zero where it has not come to that.
type Status struct {
	Done bool
	// Submitted is when it was handed to the system: for a next phase, when the one before was done.
	Submitted, Ended time.Time
	// Failed counts the tasks whose command failed for good.
	Failed int
}

// Client hands jobs in. It is safe for concurrent use.
type Client struct {
	conn *grpc.ClientConn
	rpc  pb.FleetClient
}

// Dial makes a client of the registrar, which need not be there yet: calls wait for it as long as their context allows.
func Dial(address string, secure *tls.Config) (*Client, error) {
	conn, err := grpc.NewClient(address, dialOptions(secure, DefaultMaxMessage)...)
	if err != nil {
		return nil, fmt.Errorf("%w: address %q: %w", ErrConfig, address, err)
	}
	return &Client{conn, pb.NewFleetClient(conn)}, nil
}

// Close ends the client.
func (c *Client) Close() error { return c.conn.Close() }

// Submit hands a job in and returns when it is in the journal. It tries again until the context is done if the
// registrar is away; a job that was taken already is not taken twice. A job that cannot be is an [ErrJob].
func (c *Client) Submit(ctx context.Context, j Job) error {
	job := &pb.Job{Name: j.Name, Tasks: int32(j.Tasks), Estimate: int64(j.Estimate), Long: j.Long, After: j.After,
		Command: &pb.Command{Args: j.Command.Args, Env: j.Command.Env, Dir: j.Command.Dir}}
	return again(ctx, func() error {
		_, err := c.rpc.Submit(ctx, job, grpc.WaitForReady(true))
		return err
	})
}

// Wait returns when the job is done. Errors are as those of Submit.
func (c *Client) Wait(ctx context.Context, name string) (Status, error) {
	return c.inspect(ctx, name, true)
}

// Inspect tells how far a job is. Errors are as those of Submit.
func (c *Client) Inspect(ctx context.Context, name string) (Status, error) {
	return c.inspect(ctx, name, false)
}

func (c *Client) inspect(ctx context.Context, name string, wait bool) (s Status, err error) {
	err = again(ctx, func() error {
		r, err := c.rpc.Inspect(ctx, &pb.InspectRequest{Name: name, Wait: wait}, grpc.WaitForReady(true))
		if err == nil {
			s = Status{Done: r.Done, Submitted: instant(r.Submitted), Ended: instant(r.Ended), Failed: int(r.Failed)}
		}
		return err
	})
	return s, err
}

// Census counts the workers of the fleet, and those that an agent has which is there.
func (c *Client) Census(ctx context.Context) (workers, present int, err error) {
	err = again(ctx, func() error {
		r, err := c.rpc.Census(ctx, &pb.CensusRequest{}, grpc.WaitForReady(true))
		workers, present = int(r.GetWorkers()), int(r.GetPresent())
		return err
	})
	return workers, present, err
}

func instant(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}

// again repeats a call while the registrar is away.
func again(ctx context.Context, call func() error) error {
	for failures := 1; ; failures++ {
		err := call()
		switch status.Code(err) {
		case codes.OK:
			return nil
		case codes.InvalidArgument, codes.NotFound:
			return fmt.Errorf("%w: %s", ErrJob, status.Convert(err).Message())
		case codes.FailedPrecondition:
			return mismatch(err)
		case codes.Unavailable:
		default:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("live: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryAfter(failures)):
		}
	}
}
