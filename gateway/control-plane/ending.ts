// The abort reason when a control plane closes. It is a shared instance: a signal that is aborted without a reason creates an error
// of its own, and capturing its stack would dominate the cost of closing.

export const controlPlaneClosed = new Error("the control plane is closed")
