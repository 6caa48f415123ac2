package yarn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// app is an application as the ResourceManager reports it.
type app struct {
	ID           string `json:"id"`
	State        string `json:"state"`
	FinalStatus  string `json:"finalStatus"`
	Progress     number `json:"progress"`
	Diagnostics  string `json:"diagnostics"`
	Type         string `json:"applicationType"`
	Tags         string `json:"applicationTags"`
	StartedTime  number `json:"startedTime"`
	LaunchTime   number `json:"launchTime"`
	FinishedTime number `json:"finishedTime"`
	AllocatedMB  number `json:"allocatedMB"`
	Master       string `json:"masterNodeId"`
}

// over reports whether the application has ended.
func (a *app) over() bool { return a.State == "FINISHED" || a.State == "FAILED" || a.State == "KILLED" }

// succeeded reports whether the application has done its work.
func (a *app) succeeded() bool { return a.State == "FINISHED" && a.FinalStatus == "SUCCEEDED" }

// amount is what a node has or uses.
type amount struct {
	Memory number `json:"memory"`
	VCores number `json:"vCores"`
}

// node is a node as the ResourceManager reports it.
type node struct {
	ID       string             `json:"id"`
	Host     text               `json:"nodeHostName"`
	Rack     text               `json:"rack"`
	State    string             `json:"state"`
	Labels   list[text]         `json:"nodeLabels"`
	UsedMB   number             `json:"usedMemoryMB"`
	AvailMB  number             `json:"availMemoryMB"`
	UsedVC   number             `json:"usedVirtualCores"`
	AvailVC  number             `json:"availableVirtualCores"`
	Total    object[amount]     `json:"totalResource"`
	AttrInfo object[attributes] `json:"nodeAttributesInfo"`
}

// attributes are the attributes of a node.
type attributes struct {
	All list[attribute] `json:"nodeAttributeInfo"`
}

// attribute is a node attribute.
type attribute struct {
	Prefix text `json:"prefix"`
	Name   text `json:"name"`
	Value  text `json:"value"`
}

// client makes calls to the active ResourceManager.
type client struct {
	http    *http.Client
	bases   []string
	user    string
	timeout time.Duration
	last    atomic.Int64 // index of the base that answered last
}

func newClient(o *Options) *client {
	c := &client{http: pooled(), user: o.User, timeout: o.Timeout}
	if o.Client != nil {
		own := *o.Client
		own.Timeout = 0
		c.http = &own
	}
	for _, u := range o.URLs {
		c.bases = append(c.bases, strings.TrimSuffix(u, "/"))
	}
	return c
}

// pooled is an HTTP client like the standard library's default, except that it keeps as many idle connections as there
// are concurrent calls.
func pooled() *http.Client {
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 100,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
	}}
}

// maxAnswer is the maximum size of an answer in bytes: 10,000 applications take about 12 MiB.
const maxAnswer = 256 << 20

// answerError is an answer other than the expected one.
type answerError struct {
	status int
	text   string
}

// Error gives the status and the ResourceManager's text.
func (e *answerError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.text) }

// errStandby is a ResourceManager that is not the active one.
var errStandby = errors.New("it is on standby")

// call makes one call, to the ResourceManagers in turn until one is active. A change may be sent twice, so changes are
// written such that the second time has no effect.
func (c *client) call(ctx context.Context, method, path string, query url.Values, body, into any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return err
		}
	}
	var first error
	begin := int(c.last.Load())
	for i := range c.bases {
		at := (begin + i) % len(c.bases)
		err := c.once(ctx, c.bases[at], method, path, query, payload, into)
		var answer *answerError
		if err == nil || errors.As(err, &answer) {
			c.last.Store(int64(at))
			return err
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return first
}

func (c *client) once(ctx context.Context, base, method, path string, query url.Values, payload []byte,
	into any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	q := url.Values{}
	for k, v := range query {
		q[k] = v
	}
	if c.user != "" {
		q.Set("user.name", c.user)
	}
	target := base + path
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	var reader io.Reader
	if payload != nil {
		reader = bytes.NewReader(payload)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, reader)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	// Some redirects turn every method into a GET, which changes nothing and succeeds.
	if is := resp.Request.Method; is != method {
		return fmt.Errorf("%s %s was redirected to %s %s", method, target, is, resp.Request.URL)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return err
	}
	return read(resp, data, into)
}

// read parses an answer.
func read(resp *http.Response, data []byte, into any) error {
	switch {
	case len(data) > maxAnswer:
		return fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	case resp.StatusCode >= 300:
		var remote struct {
			RemoteException struct{ Exception, Message string }
		}
		text := string(data[:min(len(data), 300)])
		if json.Unmarshal(data, &remote) == nil && remote.RemoteException.Message != "" {
			text = remote.RemoteException.Exception + ": " + remote.RemoteException.Message
		}
		return &answerError{resp.StatusCode, text}
	case bytes.HasPrefix(data, []byte("This is standby RM")):
		return errStandby
	// A change is answered with nothing or JSON. A standby that knows no active ResourceManager answers with text and
	// status 200.
	case into == nil:
		if text := bytes.TrimSpace(data); len(text) > 0 && text[0] != '{' {
			return fmt.Errorf("an answer that is not understood: %q", text[:min(len(text), 300)])
		}
		return nil
	}
	if raw, ok := into.(*[]byte); ok {
		*raw = data
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("an answer that is not understood: %w", err)
	}
	return nil
}

// fail wraps a call's error in an error of package adapters.
func fail(what string, err error) error {
	if err == nil {
		return nil
	}
	kind := adapters.ErrUnavailable
	var answer *answerError
	if errors.As(err, &answer) && answer.status >= 400 && answer.status < 500 &&
		answer.status != http.StatusTooManyRequests {
		kind = adapters.ErrRefused
	}
	return fmt.Errorf("%w: yarn: %s: %w", kind, what, err)
}

// failRead is fail for calls that change nothing. Such a call has nothing to refuse: somebody who may not read now, for
// example with an expired ticket, may later, and so may a caller of a ResourceManager that is just starting.
func failRead(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: yarn: %s: %w", adapters.ErrUnavailable, what, err)
}

// missing reports whether an error means that the object does not exist.
func missing(err error) bool {
	var answer *answerError
	return errors.As(err, &answer) && answer.status == http.StatusNotFound
}

const apps = "/ws/v1/cluster/apps"

// lean leaves out what is long and unused.
const lean = "resourceRequests,timeouts,resourceInfo"

// errOdd is an answer about one object that makes no sense.
var errOdd = errors.New("yarn: the ResourceManager's answer makes no sense")

// each parses the elements of an answer one by one. It returns the errors of those that make no sense, by id.
func each[T any](elements list[json.RawMessage], take func(*T)) map[string]error {
	var odd map[string]error
	for _, raw := range elements {
		var one T
		err := json.Unmarshal(raw, &one)
		var name struct {
			ID string `json:"id"`
		}
		if e := json.Unmarshal(raw, &name); e != nil || name.ID == "" {
			continue // the id is unknown
		}
		if err == nil {
			take(&one)
			continue
		}
		if odd == nil {
			odd = map[string]error{}
		}
		odd[name.ID] = fmt.Errorf("%w: %s: %w", errOdd, name.ID, err)
	}
	return odd
}

// live are the unfinished applications with a tag. One that makes no sense is asked for by itself.
func (c *client) live(ctx context.Context, tag string) (map[string]*app, error) {
	var answer struct {
		Apps object[struct {
			App list[json.RawMessage] `json:"app"`
		}] `json:"apps"`
	}
	q := url.Values{"applicationTags": {tag}, "states": {"NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"}, "deSelects": {lean}}
	if err := c.call(ctx, http.MethodGet, apps, q, nil, &answer); err != nil {
		return nil, failRead("list applications", err)
	}
	out := make(map[string]*app, len(answer.Apps.value.App))
	each(answer.Apps.value.App, func(a *app) { out[a.ID] = a })
	return out, nil
}

// app reads one application. It is nil if the ResourceManager does not know it. The error is errOdd if only this
// application is not understood.
func (c *client) app(ctx context.Context, id string) (*app, error) {
	a, err := c.ask(ctx, id)
	if !missing(err) {
		return a, failRead("application "+id, err)
	}
	// A ResourceManager answers before it has recovered its earlier state.
	before, err := c.activeSince(ctx)
	if err == nil {
		if a, err = c.ask(ctx, id); !missing(err) {
			return a, failRead("application "+id, err)
		}
		var after number
		if after, err = c.activeSince(ctx); err == nil && after != before {
			err = errors.New("the ResourceManager was started again meanwhile")
		}
	}
	return nil, failRead("application "+id, err)
}

func (c *client) ask(ctx context.Context, id string) (*app, error) {
	var answer struct {
		App json.RawMessage `json:"app"`
	}
	if err := c.call(ctx, http.MethodGet, apps+"/"+id, url.Values{"deSelects": {lean}}, nil, &answer); err != nil {
		return nil, err
	}
	var a object[app]
	if err := json.Unmarshal(answer.App, &a); err != nil && len(answer.App) > 0 {
		return nil, fmt.Errorf("%w: %w", errOdd, err)
	}
	switch {
	case !a.there:
		return nil, fmt.Errorf("%w: there is no application in it", errOdd)
	case a.value.ID != id:
		return nil, errors.New("the answer is of another application")
	}
	return &a.value, nil
}

// activeSince is the start time of the ResourceManager that is active and has recovered its earlier state.
func (c *client) activeSince(ctx context.Context) (number, error) {
	var answer struct {
		Info object[struct {
			HAState   string `json:"haState"`
			StartedOn number `json:"startedOn"`
		}] `json:"clusterInfo"`
	}
	err := c.call(ctx, http.MethodGet, "/ws/v1/cluster/info", nil, nil, &answer)
	if err == nil && answer.Info.value.HAState != "ACTIVE" {
		err = fmt.Errorf("the ResourceManager is %q, expected ACTIVE", answer.Info.value.HAState)
	}
	return answer.Info.value.StartedOn, err
}

// nodes are all nodes, and the errors of those that make no sense.
func (c *client) nodes(ctx context.Context) ([]node, map[string]error, error) {
	var answer struct {
		Nodes object[struct {
			Node list[json.RawMessage] `json:"node"`
		}] `json:"nodes"`
	}
	if err := c.call(ctx, http.MethodGet, "/ws/v1/cluster/nodes", nil, nil, &answer); err != nil {
		return nil, nil, failRead("list nodes", err)
	}
	out := make([]node, 0, len(answer.Nodes.value.Node))
	odd := each(answer.Nodes.value.Node, func(n *node) { out = append(out, *n) })
	return out, odd, nil
}

// status asks a gang's ApplicationMaster through the ResourceManager's proxy.
func (c *client) status(ctx context.Context, id string) (*status, error) {
	var data []byte
	if err := c.call(ctx, http.MethodGet, "/proxy/"+id+"/", nil, nil, &data); err != nil {
		return nil, failRead("status of "+id, err)
	}
	return parseStatus(data)
}

// kill ends an application with a reason.
func (c *client) kill(ctx context.Context, id, why string) error {
	body := map[string]string{"state": "KILLED", "diagnostics": why}
	return fail("kill "+id, c.call(ctx, http.MethodPut, apps+"/"+id+"/state", nil, body, nil))
}

// submit submits an application. If one with its id exists, nothing happens.
func (c *client) submit(ctx context.Context, id string, body any) error {
	return fail("submit "+id, c.call(ctx, http.MethodPost, apps, nil, body, nil))
}
