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

// Job is a job to be submitted.
type Job struct {
	// Name is unique among all jobs of the fleet. It must not be empty.
	Name string
	// Tasks is the number of tasks, at least 1. Each runs Command. Package process puts the task's index into HEDGE_TASK.
	Tasks int
	// Estimate is the estimated runtime of one task, at least 0, for systems that use it. Long is the job's class.
	Estimate time.Duration
	Long     bool
	// After is the name of a job submitted before, whose next phase this job is: it starts when that job is done.
	After   string
	Command Command
	// Attributes are what predictors may use, such as the job's user and name. Names and values must be valid UTF-8.
	Attributes map[string]string
}

// Status is the progress of a job. A time is zero if the event has not happened.
type Status struct {
	Done bool
	// Submitted is when the job was handed to the system. For a job with After, that is when the earlier job was done.
	// Ended is when the job was done.
	Submitted, Ended time.Time
	// Failed is the number of tasks whose command has failed for good.
	Failed int
}

// Client submits jobs and asks about them. It is safe for concurrent use.
type Client struct {
	conn *grpc.ClientConn
	rpc  pb.FleetClient
}

// Dial returns a client of the registrar at this address, HOST:PORT. The registrar need not run yet: calls wait for it
// until their context is done. A nil configuration means no TLS. Errors wrap [ErrConfig].
func Dial(address string, secure *tls.Config) (*Client, error) {
	conn, err := grpc.NewClient(address, dialOptions(secure, DefaultMaxMessage)...)
	if err != nil {
		return nil, fmt.Errorf("%w: address %q: %w", ErrConfig, address, err)
	}
	return &Client{conn, pb.NewFleetClient(conn)}, nil
}

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Submit submits a job and returns when the job is in the journal. While the registrar is away, it tries again until
// ctx is done, and then returns the context's error. Submitting the same job again changes nothing. The error wraps
// [ErrJob] if the job is invalid or if another job has its name, and [ErrFleet] if the address is not the registrar's.
func (c *Client) Submit(ctx context.Context, j Job) error {
	job := &pb.Job{Name: j.Name, Tasks: int32(j.Tasks), Estimate: int64(j.Estimate), Long: j.Long, After: j.After,
		Attributes: j.Attributes, Command: &pb.Command{Args: j.Command.Args, Env: j.Command.Env, Dir: j.Command.Dir}}
	return again(ctx, func() error {
		_, err := c.rpc.Submit(ctx, job, grpc.WaitForReady(true))
		return err
	})
}

// Wait returns when the job is done. Errors are as those of [Client.Submit], and wrap [ErrJob] for an unknown name.
func (c *Client) Wait(ctx context.Context, name string) (Status, error) {
	return c.inspect(ctx, name, true)
}

// Inspect returns the progress of a job. Errors are as those of [Client.Wait].
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

// Census returns the number of workers of the fleet, and of those whose agent is connected.
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
