package yarn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// list is what the ResourceManager writes as a list, as its only element, as {} or "" if there is none, or as null.
type list[T any] []T

// UnmarshalJSON reads any of these.
func (l *list[T]) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case bytes.Equal(data, []byte("null")), bytes.Equal(data, []byte("{}")), bytes.Equal(data, []byte(`""`)):
		*l = nil
		return nil
	case len(data) > 0 && data[0] == '[':
		return json.Unmarshal(data, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*l = list[T]{one}
	return nil
}

// number is what the ResourceManager writes as a number or as a text, and sometimes as NaN.
type number float64

// UnmarshalJSON reads either.
func (n *number) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `" `)
	if text == "null" || text == "" {
		*n = 0
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q, expected a number", text)
	}
	if !(v >= -1<<53 && v <= 1<<53) { // NaN, too
		v = 0
	}
	*n = number(v)
	return nil
}

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
	ID       string       `json:"id"`
	Host     string       `json:"nodeHostName"`
	Rack     string       `json:"rack"`
	State    string       `json:"state"`
	Labels   list[string] `json:"nodeLabels"`
	UsedMB   number       `json:"usedMemoryMB"`
	AvailMB  number       `json:"availMemoryMB"`
	UsedVC   number       `json:"usedVirtualCores"`
	AvailVC  number       `json:"availableVirtualCores"`
	Total    *amount      `json:"totalResource"`
	AttrInfo struct {
		All list[attribute] `json:"nodeAttributeInfo"`
	} `json:"nodeAttributesInfo"`
}

// attribute is a node attribute.
type attribute struct {
	Prefix string `json:"prefix"`
	Name   string `json:"name"`
	Value  string `json:"value"`
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
	c := &client{http: &http.Client{}, user: o.User, timeout: o.Timeout}
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

// call makes one call, to the ResourceManagers in turn until one is active. Whatever changes something may be sent twice: it is written so that the second
// time does nothing.
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

func (c *client) once(ctx context.Context, base, method, path string, query url.Values, payload []byte, into any) error {
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
	if is := resp.Request.Method; is != method { // some redirects make a GET of everything, which changes nothing and is answered well
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
	case into == nil: // who changes something is answered nothing or JSON; a standby that knows no active one has words, and status 200
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
	if errors.As(err, &answer) && answer.status >= 400 && answer.status < 500 && answer.status != http.StatusTooManyRequests {
		kind = adapters.ErrRefused
	}
	return fmt.Errorf("%w: yarn: %s: %w", kind, what, err)
}

// missing tells whether an error is of an object that is not there.
func missing(err error) bool {
	var answer *answerError
	return errors.As(err, &answer) && answer.status == http.StatusNotFound
}

const apps = "/ws/v1/cluster/apps"

// lean leaves out what is long and not used.
const lean = "resourceRequests,timeouts,resourceInfo"

// live are the applications with a tag that are not over.
func (c *client) live(ctx context.Context, tag string) (map[string]*app, error) {
	var answer struct {
		Apps struct {
			App list[json.RawMessage] `json:"app"`
		} `json:"apps"`
	}
	q := url.Values{"applicationTags": {tag}, "states": {"NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"}, "deSelects": {lean}}
	if err := c.call(ctx, http.MethodGet, apps, q, nil, &answer); err != nil {
		return nil, fail("list applications", err)
	}
	out := make(map[string]*app, len(answer.Apps.App))
	for _, raw := range answer.Apps.App {
		a := &app{}
		if err := json.Unmarshal(raw, a); err == nil && a.ID != "" { // one that makes no sense is asked for by itself
			out[a.ID] = a
		}
	}
	return out, nil
}

// app asks for one application; nil is one that the ResourceManager does not know.
func (c *client) app(ctx context.Context, id string) (*app, error) {
	var answer struct {
		App *app `json:"app"`
	}
	err := c.call(ctx, http.MethodGet, apps+"/"+id, url.Values{"deSelects": {lean}}, nil, &answer)
	if missing(err) {
		return nil, nil
	}
	if err == nil && (answer.App == nil || answer.App.ID != id) {
		err = errors.New("the answer is of another application")
	}
	if err != nil {
		return nil, fail("application "+id, err)
	}
	return answer.App, nil
}

// nodes are all nodes.
func (c *client) nodes(ctx context.Context) ([]node, error) {
	var answer struct {
		Nodes struct {
			Node list[node] `json:"node"`
		} `json:"nodes"`
	}
	if err := c.call(ctx, http.MethodGet, "/ws/v1/cluster/nodes", nil, nil, &answer); err != nil {
		return nil, fail("list nodes", err)
	}
	return answer.Nodes.Node, nil
}

// status asks a gang's ApplicationMaster, by way of the ResourceManager's proxy.
func (c *client) status(ctx context.Context, id string) (*status, error) {
	var data []byte
	if err := c.call(ctx, http.MethodGet, "/proxy/"+id+"/", nil, nil, &data); err != nil {
		return nil, fail("status of "+id, err)
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
