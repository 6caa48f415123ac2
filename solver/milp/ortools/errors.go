package ortools

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hedgesched/hedge/solver/milp"
)

// lacks reports whether err is a server's that does not know the call.
func lacks(err error) bool { return err != nil && status.Code(err) == codes.Unimplemented }

// failure is a call's error as one of milp's. solving says that the service had begun.
func (b *Backend) failure(err error, solving bool) error {
	s := status.Convert(err)
	switch s.Code() {
	case codes.Unavailable, codes.Canceled:
		if solving {
			return fmt.Errorf("%w: the service at %s was lost while it solved: %w", milp.ErrUnavailable, b.address, err)
		}
		return fmt.Errorf("%w: the service at %s does not answer (`hedge solver serve` starts one): %w", milp.ErrUnavailable, b.address, err)
	case codes.ResourceExhausted:
		// gRPC itself uses the code for messages over a limit, on either side.
		if strings.Contains(s.Message(), "larger than max") {
			return fmt.Errorf("%w: a message is too large; the client's limit is %d bytes, and the service has one too (--max-message): %w", milp.ErrUnsupported, b.limit, err)
		}
		return fmt.Errorf("%w: the service at %s has no room: %w", milp.ErrUnavailable, b.address, err)
	case codes.Unimplemented:
		return fmt.Errorf("%w: the server at %s is no solver service: %w", milp.ErrUnavailable, b.address, err)
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("%w: the service at %s lets this client not in: %w", milp.ErrUnavailable, b.address, err)
	case codes.InvalidArgument:
		return fmt.Errorf("%w: %w", milp.ErrUnsupported, err)
	}
	return fmt.Errorf("%w: the service at %s: %w", milp.ErrBackend, b.address, err)
}
