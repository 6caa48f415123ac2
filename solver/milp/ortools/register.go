package ortools

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp"
)

// Register adds the engine milp+ortools to set. Its strings have the form
//
//	milp+ortools://HOST:PORT?solver=GSCIP&tls=true&ca=FILE&cert=FILE&key=FILE
//
// Solver is GSCIP, HIGHS or CP_SAT; the default is GSCIP. tls=true secures the connection. So do ca, the authorities
// for the server's certificate (by default the system's), and cert with key, the client's own certificate. All three
// are PEM files. An engine is opened whether or not the service exists. Without a service each solve is
// [milp.ErrUnavailable], and a ladder goes on to the next rung. Close the engine when it is no longer needed.
func Register(set *engines.Set) {
	set.AddBackend("ortools", "an OR-Tools service over gRPC: solver=GSCIP, CP_SAT or HIGHS (hedge solver serve)", true,
		open, "://", "solver", "tls", "ca", "cert", "key")
}

// open makes the backend for spec.
func open(spec engines.Spec) (milp.Backend, error) {
	secure, err := security(spec)
	if err != nil {
		return nil, err
	}
	// OR-Tools writes CP_SAT, the service cp-sat.
	name := strings.ReplaceAll(spec.Word("solver"), "_", "-")
	return New(Config{Address: spec.Address, Solver: Solver(name), TLS: secure})
}

// security is the TLS configuration of spec, nil for none.
func security(spec engines.Spec) (*tls.Config, error) {
	on, ca, cert, key := spec.Word("tls"), spec.Options.Get("ca"), spec.Options.Get("cert"), spec.Options.Get("key")
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
