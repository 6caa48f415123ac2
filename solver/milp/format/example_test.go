package format_test

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/format"
)

func knapsack() *milp.Model {
	m := &milp.Model{Name: "knapsack", Maximize: true}
	for k, name := range []string{"tent", "stove", "rope"} {
		m.AddVar(milp.Var{Name: name, Upper: 1, Cost: []float64{3, 4, 5}[k], Integer: true})
	}
	m.AddRow(milp.Row{Name: "weight", Lower: math.Inf(-1), Upper: 5, Index: []int32{0, 1, 2}, Value: []float64{2, 3, 4}})
	return m
}

func ExampleWriteLP() {
	if err := format.WriteLP(os.Stdout, knapsack()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Maximize
	//  obj: + 3 tent + 4 stove + 5 rope
	// Subject To
	//  weight: + 2 tent + 3 stove + 4 rope <= 5
	// Bounds
	// Binary
	//  tent stove rope
	// End
}

func ExampleWriteMPS() {
	if err := format.WriteMPS(os.Stdout, knapsack()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// NAME knapsack FREE
	// OBJSENSE
	//     MAX
	// ROWS
	//  N obj
	//  L weight
	// COLUMNS
	//  MARKER 'MARKER' 'INTORG'
	//  tent obj 3
	//  tent weight 2
	//  stove obj 4
	//  stove weight 3
	//  rope obj 5
	//  rope weight 4
	//  MARKER 'MARKER' 'INTEND'
	// RHS
	//  RHS weight 5
	// BOUNDS
	//  BV BND tent
	//  BV BND stove
	//  BV BND rope
	// ENDATA
}

func ExampleWriteMinimized() {
	m := &milp.Model{Maximize: true}
	m.AddVar(milp.Var{Name: "tents", Upper: 3, Cost: 2})
	if err := format.WriteMinimized(os.Stdout, m); err != nil {
		fmt.Println(err)
	}
	// Output:
	// NAME unnamed FREE
	// ROWS
	//  N obj
	//  L c0
	// COLUMNS
	//  x0 obj -2
	// RHS
	//  RHS c0 1
	// BOUNDS
	//  UP BND x0 3
	// ENDATA
}

func ExampleReadLP() {
	m, err := format.ReadLP(
		strings.NewReader("Minimize\n cost: 2 x + 3 y\nSubject To\n need: x + y >= 4\nBounds\n x <= 3\nEnd\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Vars(), m.Row(0).Name, m.Row(0).Lower)

	_, err = format.ReadLP(strings.NewReader("Minimize\n x * y\nEnd\n"))
	fmt.Println(err)
	// Output:
	// 2 need 4
	// line 2:4: found "*", expected a name, a number or an operator (only linear models can be read)
}

func ExampleReadMPS() {
	m, err := format.ReadMPS(
		strings.NewReader(
			"NAME t\nROWS\n N cost\n G need\nCOLUMNS\n x cost 2 need 1\n y cost 3 need 1\nRHS\n RHS need 4\nENDATA\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Vars(), m.Row(0).Name, m.Row(0).Lower)
	// Output: 2 need 4
}

func ExampleNames() {
	fmt.Println(format.Names(knapsack()))
	// Output: [tent stove rope]
}

// A Reader tells of what may have been meant otherwise.
func ExampleReader() {
	file := "Maximize\n obj: x + y\nSubject To\n c: x + y <= 9\nBounds\n x <= 4\n x <= 3\n yy <= 2\nEnd\n"
	r := format.Reader{Warn: func(line int, text string) { fmt.Printf("line %d: %s\n", line, text) }}
	m, err := r.LP(strings.NewReader(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Vars(), "variables")
	// Output:
	// line 7: bounds 0 and 3 of variable "x" replace 0 and 4
	// line 8: variable "yy" is in no row and has no cost
	// 3 variables
}
