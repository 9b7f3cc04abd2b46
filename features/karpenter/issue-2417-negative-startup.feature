# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2417

@karpenter @issue-2417
Feature: No pod starts before it is created

  @karpenter-2417-negative-startup
  Scenario: Of two pods one ends before it was ever Ready
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    And the metric "karpenter_pods_startup_duration_seconds_sum" of the target is recorded
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    When the scenario waits for 30s
    And these objects are created:
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
    And this holds within 2m:
      """
      never: {source: harness, verb: measured, resource: metrics, name: karpenter_pods_startup_duration_seconds_sum, detail: {value: {below: 0}}}
      """
