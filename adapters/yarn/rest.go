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

// app is an application as the ResourceManager tells of it.
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

// over tells whether it has ended, however that was.
func (a *app) over() bool { return a.State == "FINISHED" || a.State == "FAILED" || a.State == "KILLED" }

// succeeded tells whether it has done its work.
func (a *app) succeeded() bool { return a.State == "FINISHED" && a.FinalStatus == "SUCCEEDED" }

// amount is what a node has or uses.
type amount struct {
	Memory number `json:"memory"`
	VCores number `json:"vCores"`
}

// node is a node as the ResourceManager tells of it.
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

// attributes are those of a node.
type attributes struct {
	All list[attribute] `json:"nodeAttributeInfo"`
}

// attribute is a node attribute.
type attribute struct {
	Prefix text `json:"prefix"`
	Name   text `json:"name"`
	Value  text `json:"value"`
}

// client makes calls to whichever ResourceManager is active.
type client struct {
	http    *http.Client
	bases   []string
	user    string
	timeout time.Duration
	last    atomic.Int64 // of the bases, the one that answered last
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

// pooled is an HTTP client as the standard library's is by default, but one that keeps the connections of as many calls
// as are made at a time.
func pooled() *http.Client {
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 100,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
	}}
}

// maxAnswer is how many bytes an answer may have: 10,000 applications have some 12 MiB.
const maxAnswer = 256 << 20

// answerError is an answer that is not the one that was asked for.
type answerError struct {
	status int
	text   string
}

// Error names the status and what the ResourceManager says.
func (e *answerError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.text) }

// errStandby is a ResourceManager that is not the active one.
var errStandby = errors.New("it is on standby")

// call makes one call, to the ResourceManagers in turn until one is active. Whatever changes something may be sent
// twice: it is written so that the second time does nothing.
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
	// some redirects make a GET of everything, which changes nothing and is answered well
	if is := resp.Request.Method; is != method {
		return fmt.Errorf("%s %s was redirected to %s %s", method, target, is, resp.Request.URL)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return err
	}
	return read(resp, data, into)
}

// read takes an answer apart.
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
	// who changes something is answered nothing or JSON; a standby that knows no active one has words, and status 200
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

// fail makes one of the adapters' errors of what a call returned.
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

// failRead is fail for calls that change nothing, of which there is nothing to refuse: whoever may not read now, as
// with a ticket that has run out, or asks a ResourceManager that is just starting, may read later.
func failRead(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: yarn: %s: %w", adapters.ErrUnavailable, what, err)
}

// missing tells whether an error is of an object that is not there.
func missing(err error) bool {
	var answer *answerError
	return errors.As(err, &answer) && answer.status == http.StatusNotFound
}

const apps = "/ws/v1/cluster/apps"

// lean leaves out what is long and not used.
const lean = "resourceRequests,timeouts,resourceInfo"

// errOdd is what the ResourceManager says of one object and makes no sense.
var errOdd = errors.New("yarn: the ResourceManager's answer makes no sense")

// each takes the elements of an answer apart one by one, and returns what is wrong with those that make no sense, by
// their ids.
func each[T any](elements list[json.RawMessage], take func(*T)) map[string]error {
	var odd map[string]error
	for _, raw := range elements {
		var one T
		err := json.Unmarshal(raw, &one)
		var name struct {
			ID string `json:"id"`
		}
		if e := json.Unmarshal(raw, &name); e != nil || name.ID == "" {
			continue // it cannot be told which it is
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

// live are the applications with a tag that are not over. One that makes no sense is asked for by itself.
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

// app asks for one application; nil is one that the ResourceManager does not know. The error is errOdd where only this
// one is not understood.
func (c *client) app(ctx context.Context, id string) (*app, error) {
	a, err := c.ask(ctx, id)
	if !missing(err) {
		return a, failRead("application "+id, err)
	}
	// A ResourceManager answers before it has read what it knew before its start.
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

// activeSince is when the ResourceManager started that is active now and has read what it knew before.
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

// nodes are all nodes, and those of which no sense can be made.
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

// status asks a gang's ApplicationMaster, by way of the ResourceManager's proxy.
func (c *client) status(ctx context.Context, id string) (*status, error) {
	var data []byte
	if err := c.call(ctx, http.MethodGet, "/proxy/"+id+"/", nil, nil, &data); err != nil {
		return nil, failRead("status of "+id, err)
	}
	return parseStatus(data)
}

// kill ends an application, with a reason.
func (c *client) kill(ctx context.Context, id, why string) error {
	body := map[string]string{"state": "KILLED", "diagnostics": why}
	return fail("kill "+id, c.call(ctx, http.MethodPut, apps+"/"+id+"/state", nil, body, nil))
}

// submit hands in an application. Nothing happens if there is one of its id.
func (c *client) submit(ctx context.Context, id string, body any) error {
	return fail("submit "+id, c.call(ctx, http.MethodPost, apps, nil, body, nil))
}
