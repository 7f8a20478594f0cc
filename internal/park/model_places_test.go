package park_test

// Where the protocol's actors are in their code.

// point is where an actor is in its code: what it does next.
type point uint8

const (
	atBegin point = iota
	atGone

	// enqueue
	atAdmit
	atGrowRelease
	atAcquireAgain
	atPush
	atAcquireUnseen // of a mistake: with the state that it has read before
	// Wake, Signal
	atLook
	atWakeLoad
	atWakeSwap
	atSignal
	atSend
	atPollerEnter
	atPollerWrite
	// addWorker, and settle
	atCount
	atSettle
	// Shutdown and Close
	atTerminate
	atSealAwake
	atSealAwakeDecide
	atDiscard
	atDiscardAll
	atAwaitDone
	// RegisterFD, UnregisterFDThen, ScheduleTimer, alarm, watch, Hold
	atOpen
	atInsert
	atLookChanged
	atUnregister
	atFollow
	atLeave
	atSchedule
	atRings
	atNotify
	atRelease
	atPublishLate // of a mistake: what should have been published before

	loopPlaces // those of the loop follow
)

// plain tells whether an actor does no more there than load, which does not wait for its store.
func (at point) plain() bool {
	switch at {
	case atLook, atWakeLoad, atSignal, atLookChanged:
		return true
	}
	return at.loopLoads()
}

// The places of the loop. Those that end a name in Late are of mistakes. Those that end it in Inner look at the urgent
// inbox, when the look at the other one has found nothing.
const (
	// Run, tick
	loopStart point = loopPlaces + iota
	loopBegin
	loopTick
	loopTimersLock
	loopTimersPop
	loopTimersLook
	loopInternal
	loopInternalLook
	loopInternalTake
	loopInternalTaken
	loopUrgentLate
	loopServe
	loopServeAgain
	loopFollow
	loopExternal
	loopExternalAgain
	loopExternalLook
	loopRefill
	loopRefillInner
	loopRefillOuter
	loopRefillPressed
	loopExternalTake
	loopExternalTaken
	loopRefillUrgent
	loopRefillFlag
	loopRefillWait
	loopRefillEnd
	loopDecide
	loopHasWork
	loopHasWorkInner
	loopPendingReady
	loopPendingChanged
	// exit and needed
	loopNeedsTable
	loopNeedsTimers
	loopNeedsInbox
	loopNeeds
	// sleep, park
	loopEarliest
	loopCommit
	loopArm
	loopArmRang
	loopArmClear
	loopCheckLock
	loopCheckLockInner
	loopCheckReady
	loopCheckChanged
	loopParkLate
	loopPark
	loopWake
	// runIO
	loopIO
	loopChoose
	loopChooseClear
	loopChooseRead
	loopChooseEnd
	loopChoosePlace
	loopChooseBlock
	loopCollect
	loopWait
	loopWaited
	loopReadyLate
	loopLookUp
	loopCall
	// finish, rest
	loopWorking
	loopWorkingCount
	loopRest
	loopRestPlace
	loopRestCommit
	loopRestCheck
	loopRestCheckInner
	loopRestPark
	loopRestWake
	loopRenew
	loopRenewed
	loopSeal
	loopSealDecide
	// end
	loopEnd
	loopEndDiscard
	loopEndTimers
	loopEndWatch
	loopEndPoller
	loopTerminated
	loopDone
)

func (at point) loopLoads() bool {
	switch at {
	case loopBegin, loopTick, loopTimersLook, loopInternal, loopInternalLook, loopExternal, loopExternalAgain,
		loopExternalLook, loopRefill, loopRefillInner, loopRefillOuter, loopRefillPressed, loopRefillUrgent, loopRefillFlag,
		loopRefillEnd, loopDecide, loopHasWork, loopHasWorkInner, loopPendingReady, loopPendingChanged, loopEarliest, loopArm,
		loopArmRang, loopCheckLock, loopCheckLockInner, loopCheckReady, loopCheckChanged, loopIO, loopChoose, loopCollect,
		loopCall, loopRestCheck, loopRestCheckInner:
		return true
	}
	return false
}
