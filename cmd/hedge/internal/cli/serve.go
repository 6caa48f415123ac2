package cli

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hedgesched/hedge/solver/milp/ortools"
	"github.com/hedgesched/hedge/solver/milp/ortools/serve"
)

// newSolver is the parent of commands about solvers themselves.
func newSolver(s *Host) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "solver",
		Short:   "Run a solver service",
		Long:    "solver has what concerns solvers that are programs of their own.",
		Example: `  hedge solver serve`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newServe(s), newPrepare(s))
	return cmd
}

func newPrepare(s *Host) *cobra.Command {
	return &cobra.Command{
		Use:     "prepare",
		Short:   "Make what serve needs, so that it starts at once and without a network",
		Example: `  hedge solver prepare`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return failed(serve.Prepare(cmd.Context(), s.Err)) },
	}
}

func newServe(s *Host) *cobra.Command {
	var c serve.Config
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve OR-Tools' solvers over gRPC, in the foreground",
		Long: `serve runs the solver service that --engine milp+ortools://HOST:PORT?solver=GSCIP talks to: GSCIP, CP_SAT and HIGHS, and for linear
programs GLOP and PDLP. It is a Python program on OR-Tools' wheel; what it needs is made on first use, in the user's cache folder, and needs
python3 with venv and PyPI. It ends when it is interrupted, after the solves that run.`,
		Example: `  hedge solver serve
  hedge solver serve --listen 0.0.0.0:50051 --tls-cert server.pem --tls-key server.key --tls-client-ca clients.pem`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !isAddress(c.Listen):
				return fmt.Errorf("--listen: found %q, expected HOST:PORT or unix:PATH", c.Listen)
			case c.MaxSolves < 0:
				return fmt.Errorf("--max-solves: found %d, expected at least 0", c.MaxSolves)
			case c.MaxMessage < 0:
				return fmt.Errorf("--max-message: found %d, expected at least 0", c.MaxMessage)
			case (c.Cert == "") != (c.Key == ""):
				return fmt.Errorf("--tls-cert: found one of it and --tls-key, expected both")
			case c.ClientCA != "" && c.Cert == "":
				return fmt.Errorf("--tls-client-ca: found without --tls-cert, expected both")
			}
			if c.Grace <= 0 {
				c.Grace = -1 // at once, as serve.Config has it
			}
			c.Log = s.Err
			c.Ready = func(address string) { note(s, "listening on %s", address) }
			return failed(serve.Run(cmd.Context(), c))
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&c.Listen, "listen", ortools.DefaultAddress,
		"address to listen on, HOST:PORT or unix:PATH; port 0 takes a free one")
	fs.IntVar(&c.MaxSolves, "max-solves", 0,
		"models solved at a time; more are answered \"busy\" (default: one for each CPU)")
	fs.IntVar(&c.MaxMessage, "max-message", ortools.DefaultMaxMessage, "largest message in bytes")
	fs.DurationVar(&c.Grace, "grace", serve.DefaultGrace,
		"how long running solves may go on when the service is told to stop")
	fs.StringVar(&c.Cert, "tls-cert", "", "PEM file of the server's certificate chain")
	fs.StringVar(&c.Key, "tls-key", "", "PEM file of its key")
	fs.StringVar(&c.ClientCA, "tls-client-ca", "",
		"PEM file of authorities: clients must have a certificate of one of them")
	fs.StringVar(&c.Python, "python", "", "interpreter to make the service's environment with (default: python3)")
	return cmd
}

// isAddress tells whether text may be somewhere to listen: gRPC's own complaint is a page of its log.
func isAddress(text string) bool {
	if path, local := strings.CutPrefix(text, "unix:"); local {
		return path != ""
	}
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}
