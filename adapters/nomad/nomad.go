package nomad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
)

var (
	// ErrConfig is a client configuration that cannot be used.
	ErrConfig = errors.New("nomad: invalid configuration")
	// ErrOptions is an option out of range.
	ErrOptions = errors.New("nomad: invalid option")
)

// Options are the options of a [Driver]. The zero value is for all namespaces. Negative durations are refused.
type Options struct {
	// Namespaces are the namespaces whose jobs hedge places; none means all. Allocations in other namespaces are foreign
	// use.
	Namespaces []string
	// Timeout limits each call; default 10 s.
	Timeout time.Duration
	// Fence is for how long a lost task counts after its node has come back without reporting it; default 1 min.
	Fence time.Duration
	// LeaseNamespace and LeasePath name the variable that holds the lease and its epoch. The default is hedge/lease in the
	// namespace default.
	LeaseNamespace, LeasePath string
	// CheckLease is for how long actions trust an earlier read of the lease. By default every action reads it, or shares
	// the answer with others that ask at the same time. It must be much shorter than the margin within which a leader that
	// cannot renew its lease gives up; see [adapters.LeadOptions].
	CheckLease time.Duration
	// Now is the clock for Fence and CheckLease; nil is the system's.
	Now func() time.Time
}

func (o *Options) withDefaults() error {
	if o.Timeout < 0 || o.Fence < 0 || o.CheckLease < 0 {
		return fmt.Errorf("%w: Timeout of %v, Fence of %v, CheckLease of %v, expected none below 0", ErrOptions, o.Timeout,
			o.Fence, o.CheckLease)
	}
	o.Timeout, o.Fence = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.Fence, time.Minute)
	if o.LeaseNamespace == "" {
		o.LeaseNamespace = api.DefaultNamespace
	}
	if o.LeasePath == "" {
		o.LeasePath = "hedge/lease"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// Driver is a scheduler's connection to Nomad. Start, Stop and Explain are safe for concurrent use for different jobs
// while Observe does not run. Close may be called at any time. Otherwise a Driver is for one goroutine at a time.
type Driver struct {
	client *api.Client
	opt    Options
	watch  *watch
	state  *state
	seen   uint64 // the watch's connection that was open when the last listing began
	ever   bool
	lists  pace
	leads  *adapters.Fence
	notes  notes
	ends   ends
	tidied time.Time // when the notes were last checked
	// oversubscribes tells that a task may use more memory than it reserves.
	oversubscribes bool
	silent         map[string]time.Time // until when agents are not asked what is used, by node
	// restored is set once Nomad's records were seen to have gone back in time.
	restored error
}

var (
	_ adapters.Driver    = (*Driver)(nil)
	_ adapters.Explainer = (*Driver)(nil)
)

// New makes a driver from a client configuration: address, region, token, TLS. It makes no call yet. If the
// configuration has an HTTP client, it is used without its Timeout, which would cut the event stream; [Options].Timeout
// limits calls. The error is [ErrConfig] or [ErrOptions].
func New(config *api.Config, o Options) (*Driver, error) {
	if err := o.withDefaults(); err != nil {
		return nil, err
	}
	client, err := newClient(config)
	if err != nil {
		return nil, err
	}
	lease := &office{client, o.LeaseNamespace, o.LeasePath, o.Timeout}
	return &Driver{client: client, opt: o, watch: newWatch(client), state: newState(), silent: map[string]time.Time{},
		leads: adapters.NewFence(lease.leader, o.CheckLease, o.Now)}, nil
}

// Close closes the event stream and the idle connections.
func (d *Driver) Close() {
	d.watch.close()
	d.client.Close()
}

func newClient(config *api.Config) (*api.Client, error) {
	if config == nil {
		config = api.DefaultConfig()
	}
	own := *config
	if own.HttpClient == nil {
		own.HttpClient = pooled()
		if err := api.ConfigureTLS(own.HttpClient, own.TLSConfig); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	} else {
		c := *own.HttpClient
		c.Timeout = 0
		own.HttpClient = &c
		if t := own.TLSConfig; t != nil &&
			(t.CACert != "" || t.CAPath != "" || len(t.CACertPEM) > 0 || t.ClientCert != "" || len(t.ClientCertPEM) > 0 ||
				t.ClientKey != "" || len(t.ClientKeyPEM) > 0 || t.TLSServerName != "" || t.Insecure) {
			if err := secure(own.HttpClient, t); err != nil {
				return nil, err
			}
		}
	}
	client, err := api.NewClient(&own)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return client, nil
}

// pooled is an HTTP client like Nomad's default, except that it keeps as many idle connections as there are concurrent
// calls.
func pooled() *http.Client {
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, MaxIdleConns: 100, MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second, TLSClientConfig: newTLS(),
	}}
}

// secure applies a TLS configuration to a user's HTTP client, which Nomad's client does not do.
func secure(c *http.Client, t *api.TLSConfig) error {
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	transport, ok := c.Transport.(*http.Transport)
	if !ok {
		return fmt.Errorf(
			"%w: TLS for an HTTP client with a transport of type %T, expected *http.Transport: set TLS up in the transport "+
				"itself", ErrConfig, c.Transport)
	}
	transport = transport.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = newTLS()
	}
	c.Transport = transport
	if err := api.ConfigureTLS(c, t); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

// bound is a context for one call.
func (d *Driver) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.opt.Timeout)
}

// mine reports whether hedge places the jobs of a namespace.
func (d *Driver) mine(namespace string) bool {
	return len(d.opt.Namespaces) == 0 || slices.Contains(d.opt.Namespaces, namespace)
}

// fail wraps a call's error in an error of package adapters.
func fail(what string, err error) error {
	if err == nil {
		return nil
	}
	kind := adapters.ErrUnavailable
	var answer api.UnexpectedResponseError
	if errors.As(err, &answer) && answer.HasStatusCode() {
		text := answer.Body()
		switch code := answer.StatusCode(); {
		case strings.Contains(text, "Enforcing job modify index"):
			kind = adapters.ErrStale
		case code >= 400 && code < 500 && code != http.StatusTooManyRequests,
			strings.Contains(text, "Permission denied"),
			strings.Contains(text, "error occurred:"): // validation has failed
			kind = adapters.ErrRefused
		}
	}
	return fmt.Errorf("%w: nomad: %s: %w", kind, what, err)
}

// failRead is fail for calls that only read. Such a call has nothing to refuse: somebody who may not read now, for
// example with an expired token, may later.
func failRead(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: nomad: %s: %w", adapters.ErrUnavailable, what, err)
}

// missing reports whether an error means that the object does not exist.
func missing(err error) bool {
	var answer api.UnexpectedResponseError
	return errors.As(err, &answer) && answer.HasStatusCode() && answer.StatusCode() == http.StatusNotFound
}
