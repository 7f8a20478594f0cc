package main
func explore(o *options, c *compiler) int { return 0 }
