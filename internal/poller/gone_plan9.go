package poller

// Errors that say that there was nothing to remove: none, without a poller.

// Gone reports false: on this system no descriptor can be added.
func Gone(error) bool { return false }
