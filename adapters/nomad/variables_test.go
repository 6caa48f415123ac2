package nomad

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/nomad/api"
)

// variables is a server's store of variables in one namespace, in memory, with the index of the last change.
type variables struct {
	*httptest.Server
	mu      sync.Mutex
	index   uint64
	at      map[string]*api.Variable
	changes []string // "PUT path" and "DELETE path"
	refuse  bool     // refuse every change, as if a right were missing
	others  http.HandlerFunc
}

func newVariables(t testing.TB) *variables {
	s := &variables{index: 100, at: map[string]*api.Variable{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *variables) serve(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, "/v1/var/")
	if !ok && r.URL.Path != "/v1/vars" {
		if s.others == nil {
			http.NotFound(w, r)
		} else {
			s.others(w, r)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.at[path]
	switch {
	case !ok:
		s.list(w, r)
	case r.Method == http.MethodGet && have == nil:
		w.Header().Set("X-Nomad-Index", fmt.Sprint(max(1, s.index)))
		http.Error(w, "variable not found", http.StatusNotFound)
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(have)
	case s.refuse:
		http.Error(w, "Permission denied", http.StatusForbidden)
	case !s.matches(r, have):
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(api.Variable{Path: path})
	default:
		s.change(w, r, path)
	}
}

// matches reports whether a change that names an index is about the variable's current version.
func (s *variables) matches(r *http.Request, have *api.Variable) bool {
	cas := r.URL.Query().Get("cas")
	if have == nil {
		return cas == "" || cas == "0"
	}
	return cas == "" || cas == fmt.Sprint(have.ModifyIndex)
}

func (s *variables) change(w http.ResponseWriter, r *http.Request, path string) {
	s.index++
	s.changes = append(s.changes, r.Method+" "+path)
	if r.Method == http.MethodDelete {
		delete(s.at, path)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	v := &api.Variable{}
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	v.Path, v.Namespace, v.ModifyIndex, v.CreateIndex = path, r.URL.Query().Get("namespace"), s.index, s.index
	if have := s.at[path]; have != nil {
		v.CreateIndex = have.CreateIndex
	}
	s.at[path] = v
	_ = json.NewEncoder(w).Encode(v)
}

func (s *variables) list(w http.ResponseWriter, r *http.Request) {
	list := []*api.VariableMetadata{}
	for path, v := range s.at {
		if strings.HasPrefix(path, r.URL.Query().Get("prefix")) {
			list = append(list, v.Metadata())
		}
	}
	slices.SortFunc(list, func(a, b *api.VariableMetadata) int { return strings.Compare(a.Path, b.Path) })
	_ = json.NewEncoder(w).Encode(list)
}

// remove deletes a variable, like an operator.
func (s *variables) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index++
	delete(s.at, path)
}

// made are the changes so far.
func (s *variables) made() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.changes)
}
