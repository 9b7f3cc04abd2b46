# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2259

@karpenter @issue-2259
Feature: A pod that has ended does not count as one that has not started

  @karpenter-2259-unstarted-metric
  Scenario: A job's pod ends before it was ever Ready
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    And the metric "karpenter_pods_unstarted_time_seconds" of the target is recorded
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata:
        name: job
        namespace: default
        annotations: {nodestorm.sim/run-for: 30s}
      spec:
        restartPolicy: Never
        readinessGates: [{conditionType: example.com/in-service}]
        containers: [{name: job, image: job, resources: {requests: {cpu: 1}}}]
      """
    Then "node" has recorded "terminated" of "pods" "default/job" within 3m
    And this holds within 30s:
      """
      happens: {source: harness, verb: unmeasured, resource: metrics, name: karpenter_pods_unstarted_time_seconds, detail: {labels.name: job}}
      ever: true
      """
