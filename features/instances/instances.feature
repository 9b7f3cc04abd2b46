# Karpenter's provider kwok makes Node and instance one, so that nothing can fail in its
# cloud. On a cloud of instances each has a life of its own.

@karpenter
Feature: Karpenter gets by with a cloud in which things fail

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And a cloud of instances

  Scenario: What is cheapest has run out
    Given the instance type "c-4x-amd64-linux" is out of stock as spot capacity
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And 1m from now, exactly 1 NodeClaim has been created since the start
    And this holds:
      """
      sequence:
        - as: refused
          match: {source: cloud, verb: LaunchInstance, code: 412, detail: {capacity: spot, error: resource_unavailable}}
        - as: had
          match: {source: cloud, verb: LaunchInstance, code: 201, detail: {capacity: on-demand}}
      """

  Scenario: The answer to a launch is lost
    Given the first call "launch instances" to the cloud is carried out, but its response is lost
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    And 5m from now, exactly 1 NodeClaim has been created since the start
    And this holds:
      """
      ever: true
      count: {source: cloud, verb: created, resource: instances}
      atMost: 1
      """

  Scenario: A machine vanishes
    Given the first instance vanishes 1m after it is running
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then a pod of the Deployment "web" is Running within 5m
    When "cloud" has recorded "deleted" of "instances"
    Then "karpenter" has sent "delete" of "nodeclaims" within 10m
    And a pod of the Deployment "web" is Running within 10m

  Scenario: Launches are refused in three ways, and the fourth is slow
    Given these faults:
      """
      faults: # each has the first launch that those above it leave
      - {name: a quota, match: {operation: LaunchInstance}, limit: 1, refuse: {code: resource_limit_exceeded}}
      - {name: a class that is not ready, match: {operation: LaunchInstance}, limit: 1, refuse: {code: not_ready}}
      - {name: another error, match: {operation: LaunchInstance}, limit: 1, refuse: {code: server_error}}
      - {name: a slow one, match: {operation: LaunchInstance}, limit: 1, delay: {by: 45s}}
      """
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 10m
    And 1m from now, between 1 and 3 NodeClaims have been created since the start
    And this holds:
      """
      sequence:
        - as: a quota
          match: {source: cloud, verb: LaunchInstance, code: 403, detail: {error: resource_limit_exceeded}}
          capture: {first: name}
        - as: the first is given up
          match: {source: api, verb: delete, resource: nodeclaims, name: $first, actor: karpenter}
        - as: a class that is not ready
          match: {source: cloud, verb: LaunchInstance, code: 409, detail: {error: not_ready}}
          capture: {second: name}
        - as: the second is given up
          match: {source: api, verb: delete, resource: nodeclaims, name: $second, actor: karpenter}
        - as: another error
          match: {source: cloud, verb: LaunchInstance, code: 500, detail: {error: server_error}}
          capture: {third: name}
        - as: the third says so
          match: {source: api, verb: patch, resource: nodeclaims, name: $third, actor: karpenter, detail: {conditions.Launched: {contains: LaunchFailed}}}
        - as: and is launched
          match: {source: cloud, verb: LaunchInstance, code: 201, name: $third}
          absent: [{source: api, verb: delete, resource: nodeclaims, name: $third}]
      """

  # The NodeClaim is given up after five minutes, and knows of no instance. Nothing else would delete that one.
  Scenario: The answer to a launch is lost, and all others are refused
    Given the first call "launch instances" to the cloud is carried out, but its response is lost
    And every call "launch instances" to the cloud is refused with "server_error", once {source: cloud, verb: created, resource: instances}, for 7m
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 15m
    And this holds within 3m:
      """
      sequence:
        - as: launched
          match: {source: cloud, verb: created, resource: instances}
          capture: {lost: name}
        - as: given up
          match: {source: api, verb: delete, resource: nodeclaims, name: $lost, actor: karpenter}
          absent: [{source: cloud, verb: TerminateInstance}]
        - as: collected
          match: {source: cloud, verb: TerminateInstance, name: $lost, actor: karpenter, code: 202}
        - as: with its Node
          match: {source: api, verb: delete, resource: nodes, name: $lost, actor: karpenter, code: 200}
      """

  Scenario: The cloud takes a machine back, and says so two minutes before
    Given the first instance is interrupted 1m after it is running, with a notice of 2m
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then a pod of the Deployment "web" is Running within 5m
    And this holds within 5m:
      """
      sequence:
        - as: announced
          match: {source: cloud, verb: interrupted, resource: instances}
          capture: {taken: name}
        - as: given up
          match: {source: api, verb: delete, resource: nodeclaims, name: $taken, actor: karpenter}
          within: 30s
        - as: replaced
          match: {source: cloud, verb: LaunchInstance, code: 201}
        - as: terminated before its time
          match: {source: cloud, verb: TerminateInstance, name: $taken, code: 202}
          within: 90s
          absent: [{source: cloud, verb: deleted, resource: instances, name: $taken}]
      """
    And a pod of the Deployment "web" is Running within 5m

  @restarts
  Scenario: Karpenter is killed, stopped and started again
    Given Karpenter with the flags:
      | --batch-idle-duration | 2s |
    And these objects from the file "pool.yaml"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
    When the target is killed
    And the target is stopped
    And a pod "more" that requests 3 CPU is created
    And the scenario waits for 1m
    And the target is started again
    Then the pod "more" is Running within 5m
