# A control of https://github.com/aws/karpenter-provider-aws/pull/9318: AWS answers every call.

@aws @issue-9318
Feature: Karpenter for AWS launches a machine, and terminates it

  Scenario Outline: A pod needs a machine, and then does not
    Given a cluster
    And a Ready Node "system" for system pods only
    And <region>
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 3m
    And this holds:
      """
      sequence:
        - as: asked for
          match: {source: cloud, verb: CreateFleet}
        - as: registered
          match: {source: node, verb: register, resource: nodes}
          capture: {node: name}
        - as: running
          match: {source: node, verb: running, resource: pods, name: web, detail: {node: $node}}
      """
    When "Pod/web" is deleted
    Then this holds within 5m:
      """
      sequence:
        - as: drained
          match: {source: api, verb: delete, resource: nodes, actor: karpenter}
        - as: terminated
          match: {source: cloud, verb: TerminateInstances}
        - as: gone
          match: {source: cloud, verb: deleted, resource: instances}
      """

    @aws-9318-answered
    Examples: under AWS's own names
      | region        |
      | an AWS region |

    @aws-9318-answered-endpoint
    Examples: at an endpoint out of a variable
      | region                                |
      | an AWS region behind AWS_ENDPOINT_URL |
