# Open. Nothing falls back from an error of the call itself, as opposed to one of the fleet.

@aws @issue-9616
Feature: What cannot be had as spot capacity is had on demand

  @aws-9616-no-fallback
  Scenario: AWS answers every CreateFleet for spot capacity with an error
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And these faults:
      """
      faults:
        - name: no spot capacity
          match: {operation: CreateFleet, capacity: spot}
          refuse: {code: InsufficientInstanceCapacity, status: 500}
      """
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 10m
