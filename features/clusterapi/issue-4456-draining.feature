# https://github.com/kubernetes/autoscaler/issues/4456
# Fixed by https://github.com/kubernetes/autoscaler/pull/6708 and
# https://github.com/kubernetes/autoscaler/pull/6776, first in 1.31.0.

@cluster-autoscaler @clusterapi @issue-4456
Feature: A pod that comes while a node is drained gets a node of its own

  @clusterapi-4456-draining
  Scenario: A node is drained slowly, and a pod comes that fits nowhere else
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 4 machines, 2 of them Running
    And a pod "a" that requests 3 CPU is Running
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: slow}
      spec:
        selector: {matchLabels: {app: slow}}
        template:
          metadata:
            labels: {app: slow}
            annotations: {nodestorm.sim/stop-after: 9m}
          spec:
            terminationGracePeriodSeconds: 540
            containers: [{name: slow, image: slow, resources: {requests: {cpu: 500m}}}]
      """
    And "node" has recorded "running" of "pods" 2 times
    And Cluster Autoscaler
    When a pod "web" that requests 3 CPU is created once this is recorded:
      """
      source: api
      verb: create
      resource: events
      actor: cluster-autoscaler
      detail: {message: {contains: toBeDeleted}}
      """
    Then the pod "web" is Running within 7m
