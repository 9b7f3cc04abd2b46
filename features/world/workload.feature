# A workload is what runs in a cluster over a time: it comes, grows and goes by itself.

Feature: Workloads run

  Background:
    Given a cluster
    When a machine "a" with a simulated kubelet boots
    Then the Node "a" is Ready within 1m

  Scenario: A Deployment grows and goes, and Jobs end in virtual time
    When this workload runs:
      """
      lasts: 20m
      loads:
        - {name: web, kind: Deployment, cpu: 10m, ends: 15m, steps: [{at: 5m, pods: 3}], priority: 10, maxUnavailable: 1}
        - {name: batch, kind: Job, cpu: 10m, every: 4m, ends: 8m, runs: 2m}
      """
    And a client has sent "create" of "pods" 5 times
    And a client has sent "delete" of "deployments" "web"
    And a client has sent "delete" of "jobs" "batch-2"
    Then no pod waits longer than 1m within 1m

  Scenario: It comes from a file
    When the workload from the file "workload.yaml" runs
    And a client has sent "create" of "pods" 2 times
    Then no pod waits longer than 1m within 1m
