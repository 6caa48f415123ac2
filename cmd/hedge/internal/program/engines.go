package program

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/highs"
	"github.com/hedgesched/hedge/solver/milp/ortools"
)

// Engines are the engines that need no C compiler: the pure-Go ones, solvers' executables, HiGHS from its shared library, and
// the OR-Tools service.
func Engines() *engines.Set {
	s := engines.Builtin()
	s.AddBackend("highs", "HiGHS in the process, from its shared library (make highs)", true, func(spec engines.Spec) (milp.Backend, error) {
		return highs.Open(highs.Config{Library: spec.Options.Get("library")})
	}, "library")
	s.AddBackend("ortools", "an OR-Tools service over gRPC: solver=GSCIP, CP_SAT or HIGHS (hedge solver serve)", true, openORTools,
		"://", "solver", "tls", "ca", "cert", "key")
	return s
}

// openORTools opens milp+ortools://HOST:PORT?solver=NAME; tls=true, ca=FILE or cert=FILE&key=FILE secure the connection.
func openORTools(spec engines.Spec) (milp.Backend, error) {
	secure, err := security(spec)
	if err != nil {
		return nil, err
	}
	// CP_SAT as OR-Tools writes it, cp-sat as the service does.
	name := strings.ReplaceAll(strings.ToLower(spec.Options.Get("solver")), "_", "-")
	return ortools.New(ortools.Config{Address: spec.Address, Solver: ortools.Solver(name), TLS: secure})
}

// security is how spec has the connection secured, nil for not at all.
func security(spec engines.Spec) (*tls.Config, error) {
	on, ca, cert, key := spec.Options.Get("tls"), spec.Options.Get("ca"), spec.Options.Get("cert"), spec.Options.Get("key")
	switch {
	case on != "" && on != "true" && on != "false":
		return nil, fmt.Errorf("%w %q: tls: found %q, expected true or false", engines.ErrSpec, spec.Text, on)
	case (cert == "") != (key == ""):
		return nil, fmt.Errorf("%w %q: found one of cert and key, expected both", engines.ErrSpec, spec.Text)
	case on == "false" && (ca != "" || cert != ""):
		return nil, fmt.Errorf("%w %q: found tls=false and files for TLS, expected one of them", engines.ErrSpec, spec.Text)
	case on != "true" && ca == "" && cert == "":
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New(ca + ": found no certificate in PEM form")
		}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
