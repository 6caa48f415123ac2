package ortools

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hedgesched/hedge/solver/milp"
)

// lacks reports whether err comes from a server that does not know the call.
func lacks(err error) bool { return err != nil && status.Code(err) == codes.Unimplemented }

// hint says what to do about a service to which no connection can be made. If only one side uses TLS, or one does not
// trust the other's certificate, gRPC does not say so, or mentions a preface.
func (b *Backend) hint(words string) string {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(words, part) })
	}
	cut := has("server preface", "connection reset", "broken pipe", "EOF") // which of them depends on timing
	switch {
	case !b.secure && cut:
		return "it may want TLS: Config.TLS, or tls=true, ca=FILE in an engine string"
	case b.secure && has("first record does not look like a TLS handshake"):
		return "it is without TLS, and the client has Config.TLS, or one of tls, ca and cert in an engine string"
	case b.secure && has("x509:"):
		return "its certificate is not trusted: Config.TLS has the authorities, or ca=FILE in an engine string"
	case b.secure && (cut || has("certificate", "unknown ca")):
		return "it may want a client's certificate of an authority that it knows: Config.TLS, or cert=FILE&key=FILE in an " +
			"engine string"
	}
	return "`hedge solver serve` starts one"
}

// failure converts a call's error to one of milp's. solving says that the service had begun.
func (b *Backend) failure(err error, solving bool) error {
	s := status.Convert(err)
	switch s.Code() {
	case codes.Unavailable, codes.Canceled:
		if solving {
			return fmt.Errorf("%w: the service at %s was lost while it solved: %w", milp.ErrUnavailable, b.address, err)
		}
		return fmt.Errorf("%w: the service at %s does not answer (%s): %w", milp.ErrUnavailable, b.address,
			b.hint(s.Message()), err)
	case codes.ResourceExhausted:
		// gRPC itself uses this code for messages over a limit, on either side.
		if strings.Contains(s.Message(), "larger than max") {
			return fmt.Errorf(
				"%w: a message is too large; the client's limit is %d bytes, and the service has one too (--max-message): %w",
				milp.ErrUnsupported, b.limit, err)
		}
		return fmt.Errorf("%w: the service at %s has no room: %w", milp.ErrUnavailable, b.address, err)
	case codes.Unimplemented:
		return fmt.Errorf("%w: the server at %s is no solver service: %w", milp.ErrUnavailable, b.address, err)
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("%w: the service at %s rejects this client: %w", milp.ErrUnavailable, b.address, err)
	case codes.InvalidArgument:
		return fmt.Errorf("%w: %w", milp.ErrUnsupported, err)
	}
	return fmt.Errorf("%w: the service at %s: %w", milp.ErrBackend, b.address, err)
}
