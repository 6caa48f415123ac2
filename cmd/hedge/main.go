// Command hedge simulates, compares and explains cluster scheduling policies.
package main

func main() {}
