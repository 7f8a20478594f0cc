// Package atomic is sync/atomic. With the build tag schedules, each access to one of its values is a point of package
// sched.
package atomic
